import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;
import java.util.Map;

class GsonLibrary implements Library {
    private final GsonBuilder builder = new GsonBuilder().setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).serializeNulls();

    public Object read(String text) {
        return builder.create().fromJson(text, Object.class);
    }

    public Map<String, String> write(String text) {
        Object value = read(text);
        return Map.of("html", builder.create().toJson(value), "pretty", builder.setPrettyPrinting().disableHtmlEscaping().create().toJson(value));
    }
}
