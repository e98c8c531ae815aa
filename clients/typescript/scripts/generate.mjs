// Makes src/schema.ts and src/shapes.ts from the service's OpenAPI document:
//   node generate.mjs openapi.json FOLDER
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

/** How the document writes an amount; whatever has this pattern is a bigint in the client. */
const AMOUNT = "^[0-9]{1,78}$";
const NOTICE = "// Made from the service's OpenAPI document by `make clients`: change nothing here.\n";
const [documentFile, folder] = process.argv.slice(2);
const document = JSON.parse(readFileSync(documentFile, "utf8"));
const schemas = document.components.schemas;

const bigint = () => ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const number = () => ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword);
const none = () => ts.factory.createLiteralTypeNode(ts.factory.createNull());
const union = (...types) => ts.factory.createUnionTypeNode(types);
const isAmount = (schema) => schema?.pattern === AMOUNT;

const string = () => ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
/** Whether a property is the digits of another one, for whoever has no bigint. */
const isCopy = (schema, name) => name.endsWith("_string") && schema?.properties?.[name.slice(0, -7)] !== undefined;

/** The name of a schema that a property refers to, alone, in a list or beside null. */
function findReference(schema) {
  const inner = [schema, schema.items, ...(schema.anyOf ?? [])].find((each) => each?.$ref !== undefined);
  return inner?.$ref.split("/").pop();
}

/** What in an answer is an amount: "" for digits, "=other" for digits that stand in another property, or a schema. */
function describeShape(schema) {
  const shape = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (isCopy(schema, name)) continue;
    if (isAmount(property)) shape[name] = "";
    else if (isAmount(schema.properties[`${name}_string`])) shape[name] = `=${name}_string`;
    else if (findReference(property) !== undefined) shape[name] = findReference(property);
  }
  return shape;
}

/** Every schema of an answer that holds an amount, however deep. */
function describeShapes() {
  const answers = Object.entries(schemas).filter(([, schema]) => schema.additionalProperties !== false);
  const shapes = Object.fromEntries(answers.map(([name, schema]) => [name, describeShape(schema)]));
  const holds = (name, seen = new Set()) => {
    if (seen.has(name) || shapes[name] === undefined) return false;
    seen.add(name);
    return Object.values(shapes[name]).some((each) => each === "" || each[0] === "=" || holds(each, seen));
  };
  const kept = {};
  for (const name of Object.keys(shapes).sort()) {
    if (!holds(name)) continue;
    const entries = Object.entries(shapes[name]).filter(([, each]) => each === "" || each[0] === "=" || holds(each));
    kept[name] = Object.fromEntries(entries);
  }
  return kept;
}

/** An amount in a request is a bigint, or a number where that is exact; ids of chains are numbers. */
function transform(schema, { path }) {
  const [, owner, name] = path?.match(/\/schemas\/([^/]+)\/(?:properties\/)?([^/]+)$/) ?? [];
  if (isAmount(schemas[owner]?.properties?.[`${name}_string`])) return bigint();
  if (name !== undefined && isCopy(schemas[owner], name)) return string();
  const choices = schema.oneOf ?? [];
  if (choices.some(isAmount)) return union(bigint(), number());
  if (choices.some((each) => each.type === "integer") && choices.some((each) => each.type === "string")) return number();
  if (isAmount(schema)) return schema.type.includes("null") ? union(bigint(), none()) : bigint();
  return undefined;
}

// Examples are of the interface, where amounts are digits.
const types = { openapi: document.openapi, info: document.info, paths: {}, components: { schemas } };
const bare = JSON.parse(JSON.stringify(types), (key, value) => (key === "example" || key === "examples" ? undefined : value));
const options = { transform, rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false, silent: true };
writeFileSync(join(folder, "schema.ts"), NOTICE + astToString(await openapiTS(bare, options)));
const shapes = `/** What in each answer is an amount: digits, digits in another property, or inside another schema. */
export const SHAPES: Record<string, Record<string, string>> = ${JSON.stringify(describeShapes(), null, 2)};\n`;
writeFileSync(join(folder, "shapes.ts"), NOTICE + shapes);
