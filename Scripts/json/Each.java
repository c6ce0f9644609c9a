import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A library of Java. Each class of it is named after the library. */
interface Library {
    /** A tree of Map, List, String, Number, Boolean and null. */
    Object read(String text) throws Exception;

    /** The text in each style. */
    Map<String, String> write(String text) throws Exception;
}

/** Lets a library of Java read or write. usage: java Each LIBRARY read PATH … | LIBRARY write FOLDER PATH … */
class Each {
    static String canonical(Object value) {
        if (value == null || value instanceof Boolean) return String.valueOf(value);
        if (value instanceof Double number) return String.format("\"d%016x\"", Double.doubleToRawLongBits(number));
        if (value instanceof Number) return "\"x" + value + "\"";
        if (value instanceof CharSequence text) {
            return "\"c" + text.chars().mapToObj(String::valueOf).collect(Collectors.joining(",")) + "\"";
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(each -> canonical(each.getKey()) + ":" + canonical(each.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) return list.stream().map(Each::canonical).collect(Collectors.joining(",", "[", "]"));
        return "\"type " + value.getClass().getSimpleName() + "\"";
    }

    public static void main(String[] words) throws Exception {
        Library library = (Library) Class.forName(words[0]).getDeclaredConstructor().newInstance();
        boolean reads = words[1].equals("read");
        for (int index = reads ? 2 : 3; index < words.length; index++) {
            Path path = Path.of(words[index]);
            String text = Files.readString(path);
            if (reads) {
                String line;
                try {
                    line = canonical(library.read(text));
                } catch (Exception error) {
                    line = "refused";
                }
                System.out.println(line);
                continue;
            }
            String name = path.getFileName().toString().replace(".json", "-");
            for (Map.Entry<String, String> style : library.write(text).entrySet()) {
                Files.write(Path.of(words[2], name + style.getKey() + ".json"), style.getValue().getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
