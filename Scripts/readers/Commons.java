import java.io.FileReader;
import java.util.Calendar;
import java.util.Date;
import org.apache.commons.configuration2.plist.XMLPropertyListConfiguration;

/** Prints what commons-configuration2 reads under the key k of each file. */
class Commons {
    public static void main(String[] paths) {
        for (String path : paths) {
            String text;
            try (FileReader reader = new FileReader(path)) {
                XMLPropertyListConfiguration list = new XMLPropertyListConfiguration();
                list.read(reader);
                Object value = list.getProperty("k");
                if (value instanceof Date date) {
                    text = "date " + date.getTime() / 1000;
                } else if (value instanceof Calendar date) {
                    text = "date " + date.getTimeInMillis() / 1000;
                } else {
                    text = value == null ? "nothing" : value.getClass().getSimpleName() + " " + value;
                }
            } catch (Exception error) {
                text = "refused";
            }
            System.out.println(text);
        }
    }
}
