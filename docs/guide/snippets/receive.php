<?php
// A receiver of webhooks with nothing but PHP's own functions: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receive.php
const TOLERANCE_S = 300;

// --8<-- [start:verify]
/** Returns the event of a delivery; throws unless the service sent it, just now and just so. */
function verify(string $body, array $headers, string $secret): array
{
    $key = (string) base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    [$id, $sent, $given] = array_map(fn ($name) => $headers["webhook-$name"] ?? '', ['id', 'timestamp', 'signature']);
    if (strlen($key) < 16 || $id === '' || !ctype_digit($sent)) {
        throw new RuntimeException('a header is missing, or this is no secret');
    }
    $right = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
    // Two secrets sign while one replaces the other: one of the signatures has to be right.
    $matches = array_filter(explode(' ', $given), fn ($each) => hash_equals($right, $each));
    if (!$matches) {
        throw new RuntimeException('no signature is right');
    }
    if (abs(time() - (int) $sent) > TOLERANCE_S) {
        throw new RuntimeException('it was sent too long ago');
    }
    return json_decode($body, true, flags: JSON_THROW_ON_ERROR)['event'];
}
// --8<-- [end:verify]

$headers = [];
foreach (['id', 'timestamp', 'signature'] as $name) {
    $headers["webhook-$name"] = $_SERVER['HTTP_WEBHOOK_' . strtoupper($name)] ?? '';
}
try {
    // The body as it came, to the byte: not $_POST, and not parsed and written again.
    $event = verify(file_get_contents('php://input'), $headers, (string) getenv('WEBHOOK_SECRET'));
    $data = $event['data'];
    file_put_contents('php://stdout', "{$event['type']} {$data['payment_order_id']} {$data['payment_order_status']}\n");
    http_response_code(204);
} catch (RuntimeException | JsonException $error) {
    file_put_contents('php://stdout', "refused: {$error->getMessage()}\n");
    http_response_code(400);
}
