<?php
// Lets json of PHP read or write. usage: php each.php read PATH … | write FOLDER PATH …
ini_set("serialize_precision", "-1");
function canonical($value) {
    if ($value === null || is_bool($value)) return json_encode($value);
    if (is_int($value)) return "\"i$value\"";
    if (is_float($value)) return '"d' . bin2hex(pack("E", $value)) . '"';
    if (is_string($value)) return '"s' . bin2hex($value) . '"';
    if (is_array($value)) return "[" . implode(",", array_map("canonical", $value)) . "]";
    $texts = [];
    foreach ($value as $key => $element) $texts[] = canonical((string) $key) . ":" . canonical($element);
    return "{" . implode(",", $texts) . "}";
}
[, $verb] = $argv;
if ($verb === "read") {
    foreach (array_slice($argv, 2) as $path) {
        try {
            echo canonical(json_decode(file_get_contents($path), false, 512, JSON_THROW_ON_ERROR)), "\n";
        } catch (Throwable $error) {
            echo "refused\n";
        }
    }
    exit;
}
$styles = [
    "compact" => 0, "pretty" => JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES,
    "html" => JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT | JSON_PRESERVE_ZERO_FRACTION];
foreach (array_slice($argv, 3) as $path) {
    $value = json_decode(file_get_contents($path));
    foreach ($styles as $style => $flags) file_put_contents("$argv[2]/" . basename($path, ".json") . "-$style.json", json_encode($value, $flags));
}
