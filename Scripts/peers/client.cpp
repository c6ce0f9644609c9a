// A program that stores texts with QSettings, or with KConfig if it is compiled with -DKCONFIG; see client.py.
#include <QCoreApplication>
#include <QDateTime>
#include <QSettings>
#include <iostream>
#include <sstream>
#ifdef KCONFIG
#include <KConfig>
#include <KConfigGroup>
#include <kconfig_version.h>
#endif

int main(int count, char **arguments) {
    QCoreApplication application(count, arguments);
#ifdef KCONFIG
    KConfig config("peersrc");
    KConfigGroup group(&config, "peers");
#else
    QSettings settings("peers", "peers");
#endif
    std::string line, command, key, value;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        command = key = value = "";
        qint64 time = 0;
        words >> command >> key >> value >> time;
        while (QDateTime::currentMSecsSinceEpoch() < time) {}
        QString name = QString::fromStdString(key), text = QString::fromStdString(value);
        QCoreApplication::processEvents();
        std::string answer;
#ifdef KCONFIG
        if (command == "version") answer = KCONFIG_VERSION_STRING;
        if (command == "set") {
            group.writeEntry(name, text);
            answer = config.sync() ? "ok" : "error: false";
        }
        if (command == "get") answer = group.readEntry(name, "default").toStdString();
#else
        std::string status = settings.status() == QSettings::NoError ? "" : settings.status() == QSettings::FormatError ? "FormatError" : "AccessError";
        if (command == "version") answer = qVersion();
        if (command == "set") {
            settings.setValue(name, text);
            settings.sync();
            status = settings.status() == QSettings::NoError ? "" : settings.status() == QSettings::FormatError ? "FormatError" : "AccessError";
            answer = status.empty() ? "ok" : "error: " + status;
        }
        if (command == "get") {
            answer = settings.value(name, "default").toString().toStdString();
            if (!status.empty()) std::cerr << status << std::endl;
        }
#endif
        std::cout << answer << std::endl;
    }
}
