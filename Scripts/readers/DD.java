import com.dd.plist.*;
import java.io.File;

/** Prints what dd-plist reads under the key k of each file. */
class DD {
    public static void main(String[] paths) {
        for (String path : paths) {
            String text;
            try {
                if (path.equals("--write")) {
                    NSDictionary values = new NSDictionary();
                    values.put("k", new NSDate(new java.util.Date(java.time.Instant.parse("0000-12-31T23:59:59Z").toEpochMilli())));
                    String list = values.toXMLPropertyList();
                    System.out.println("date of the year " + list.replaceAll("(?s).*<date>(\\d+)-.*", "$1"));
                    continue;
                }
                NSObject value = ((NSDictionary) PropertyListParser.parse(new File(path))).get("k");
                if (value instanceof NSNumber number) {
                    text = number.isInteger() ? "integer " + number.longValue() : "real " + number.doubleValue();
                } else if (value instanceof NSDate date) {
                    text = "date " + date.getDate().getTime() / 1000;
                } else {
                    text = value == null ? "nothing" : value.getClass().getSimpleName();
                }
            } catch (Exception error) {
                text = "refused";
            }
            System.out.println(text);
        }
    }
}
