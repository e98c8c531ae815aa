// One open router from npm on one market of constant-product pools: lines of JSON on stdin, one answer a line on stdout.
//
// first: { peer, tokens: [[address, symbol, decimals]], pools: [[id, token, token, reserve, reserve, worth]] } -> {}
// then:  { in, out, amount, cost }    cost: what using a pool costs in gas, in units of the token bought
//        -> { cpu, paths: [{ amount, pools: [id] }] }    cpu: seconds of the processor so far
//
// Nobody asks a chain for anything here: providers are answered from the document.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/`);
const { BigNumber } = require("@ethersproject/bignumber");
const { CurrencyAmount, Fraction, Token, TradeType } = require("@uniswap/sdk-core");
const { Pair } = require("@uniswap/v2-sdk");

const ETHEREUM = 1;
const POOL_GAS = 120000;

function uniswapObjects(market) {
  const tokens = market.tokens.map(
    ([address, symbol, decimals]) => new Token(ETHEREUM, address, decimals, symbol, symbol, true),
  );
  const idOf = new Map();
  const pairs = market.pools.map(([id, a, b, reserveA, reserveB]) => {
    const pair = new Pair(
      CurrencyAmount.fromRawAmount(tokens[a], reserveA),
      CurrencyAmount.fromRawAmount(tokens[b], reserveB),
    );
    idOf.set(pair.liquidityToken.address, id);
    return pair;
  });
  return { tokens, pairs, idOf };
}

function pathsOf(routes, idOf) {
  return routes.map(({ amount, pairs }) => ({
    amount: String(amount),
    pools: pairs.map((pair) => idOf.get(pair.liquidityToken.address)),
  }));
}

// Uniswap's router as it runs for v2 on Ethereum, with its default configuration, on providers that know this market.
function smartOrderRouter({ tokens, pairs, idOf }, market) {
  const home = "@uniswap/smart-order-router/build/main";
  const { V2Quoter, V2QuoteProvider } = require("@uniswap/smart-order-router");
  const { getV2CandidatePools } = require(`${home}/routers/alpha-router/functions/get-candidate-pools`);
  const { getBestSwapRoute } = require(`${home}/routers/alpha-router/functions/best-swap-route`);
  const { DEFAULT_ROUTING_CONFIG_BY_CHAIN } = require(`${home}/routers/alpha-router/config`);
  const { usdGasTokensByChain } = require(`${home}/routers/alpha-router/gas-models/gas-model`);
  const { PortionProvider } = require(`${home}/providers/portion-provider`);
  const config = DEFAULT_ROUTING_CONFIG_BY_CHAIN(ETHEREUM);
  const known = staticProviders(tokens, pairs, market);
  const percents = [];
  for (let part = config.distributionPercent; part <= 100; part += config.distributionPercent) percents.push(part);

  return async (query) => {
    const [tokenIn, tokenOut] = [tokens[query.in], tokens[query.out]];
    const gasModel = {
      estimateGasCost: ({ route }) => ({
        gasEstimate: BigNumber.from(POOL_GAS * route.pairs.length),
        gasCostInToken: CurrencyAmount.fromRawAmount(tokenOut, (BigInt(query.cost) * BigInt(route.pairs.length)).toString()),
        gasCostInUSD: CurrencyAmount.fromRawAmount(usdGasTokensByChain[ETHEREUM][0], 0),
      }),
    };
    const quoter = new V2Quoter(
      known.subgraph, known.pools, new V2QuoteProvider(), { buildGasModel: async () => gasModel }, known.tokens, ETHEREUM,
    );
    const total = CurrencyAmount.fromRawAmount(tokenIn, query.amount);
    const candidates = await getV2CandidatePools({
      tokenIn, tokenOut, routeType: TradeType.EXACT_INPUT, routingConfig: config, subgraphProvider: known.subgraph,
      tokenProvider: known.tokens, poolProvider: known.pools, chainId: ETHEREUM,
    });
    const { routes } = await quoter.getRoutes(tokenIn, tokenOut, candidates, TradeType.EXACT_INPUT, config);
    const amounts = percents.map((part) => total.multiply(new Fraction(part, 100)));
    const { routesWithValidQuotes } = await quoter.getQuotes(
      routes, amounts, percents, tokenOut, TradeType.EXACT_INPUT, config, undefined, undefined, BigNumber.from(0),
    );
    const best = await getBestSwapRoute(
      total, percents, routesWithValidQuotes, TradeType.EXACT_INPUT, ETHEREUM, config, new PortionProvider(), gasModel,
    );
    const found = best ? best.routes : [];
    return () => pathsOf(found.map((part) => ({ amount: part.amount.quotient, pairs: part.route.pairs })), idOf);
  };
}

function staticProviders(tokens, pairs, market) {
  const byAddress = new Map(tokens.map((token) => [token.address.toLowerCase(), token]));
  const keyOf = (a, b) => [a.address.toLowerCase(), b.address.toLowerCase()].sort().join();
  const byPair = new Map(pairs.map((pair) => [keyOf(pair.token0, pair.token1), pair]));
  const listed = pairs.map((pair, row) => ({
    id: pair.liquidityToken.address.toLowerCase(),
    token0: { id: pair.token0.address.toLowerCase() },
    token1: { id: pair.token1.address.toLowerCase() },
    reserve: market.pools[row][5],
    reserveUSD: market.pools[row][5],
    supply: market.pools[row][5],
  }));
  const addressOf = (a, b) => {
    const pair = byPair.get(keyOf(a, b));
    const [token0, token1] = a.sortsBefore(b) ? [a, b] : [b, a];
    return { poolAddress: pair ? pair.liquidityToken.address : Pair.getAddress(a, b), token0, token1 };
  };
  const accessor = (wanted) => ({
    getPool: (a, b) => byPair.get(keyOf(a, b)),
    getPoolByAddress: () => undefined,
    getAllPools: () => [...new Set(wanted.map(([a, b]) => byPair.get(keyOf(a, b))).filter(Boolean))],
  });
  return {
    subgraph: { getPools: async () => listed },
    pools: { getPools: async (wanted) => accessor(wanted), getPoolAddress: addressOf },
    tokens: {
      getTokens: async () => ({ getTokenByAddress: (address) => byAddress.get(address.toLowerCase()) }),
    },
  };
}

// Balancer's router on the same pools as weighted pools of equal weights.
async function balancerSor({ pairs }, market) {
  const { SOR, SwapTypes } = require("@balancer-labs/sor");
  const [zero, weth] = ["0x0000000000000000000000000000000000000000", market.tokens[0][0]];
  const pools = market.pools.map(([id, a, b, reserveA, reserveB], row) =>
    weightedPool(id, pairs[row].liquidityToken.address, market, [a, reserveA], [b, reserveB]),
  );
  const sor = new SOR({}, { chainId: ETHEREUM, vault: zero, weth }, { getPools: async () => pools }, {
    getNativeAssetPriceInToken: async () => "0",
  });
  await sor.fetchPools();
  const gasPrice = BigNumber.from(10).pow(9);

  return async (query) => {
    sor.routeProposer.cache = {};
    const [tokenIn, tokenOut] = [market.tokens[query.in][0], market.tokens[query.out][0]];
    const coins = Number(query.cost) / 10 ** market.tokens[query.out][2] / (POOL_GAS * 1e-9);
    sor.swapCostCalculator.setNativeAssetPriceInToken(tokenOut, coins.toFixed(18));
    const info = await sor.getSwaps(tokenIn, tokenOut, SwapTypes.SwapExactIn, BigNumber.from(query.amount), {
      gasPrice: query.cost === "0" ? BigNumber.from(0) : gasPrice, swapGas: BigNumber.from(POOL_GAS),
    });
    return () => chains(info.swaps);
  };
}

function weightedPool(id, address, market, ...sides) {
  const addressOf = (number) => market.tokens[number][0];
  const whole = (units, number) => {
    const digits = String(units).padStart(market.tokens[number][2] + 1, "0");
    return `${digits.slice(0, -market.tokens[number][2])}.${digits.slice(-market.tokens[number][2])}`;
  };
  return {
    id, address, poolType: "Weighted", swapFee: "0.003", swapEnabled: true, totalShares: "1", totalWeight: "1",
    tokensList: sides.map(([number]) => addressOf(number)),
    tokens: sides.map(([number, units]) => ({
      address: addressOf(number), balance: whole(units, number), decimals: market.tokens[number][2], weight: "0.5",
      priceRate: "1",
    })),
  };
}

// A swap without an amount of its own goes on with what the one before gave.
function chains(swaps) {
  const paths = [];
  for (const swap of swaps) {
    if (swap.amount !== "0") paths.push({ amount: swap.amount, pools: [] });
    paths[paths.length - 1].pools.push(swap.poolId);
  }
  return paths;
}

const PEERS = { "smart-order-router": smartOrderRouter, "balancer-sor": balancerSor };

function spent() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function main() {
  let quote = null;
  for await (const line of createInterface({ input: process.stdin })) {
    const document = JSON.parse(line);
    let paths = [];
    if (quote === null) quote = await PEERS[document.peer](uniswapObjects(document), document);
    else paths = (await quote(document))();
    process.stdout.write(`${JSON.stringify({ cpu: spent(), paths })}\n`);
  }
}

await main();
