// Prints one line for each value that GNUstep writes.
#import <Foundation/Foundation.h>
#include <math.h>

static NSNumber *number(double value) { return [NSNumber numberWithDouble: value]; }

static NSData *list(id value, NSPropertyListFormat format) {
    NSDictionary *values = [NSDictionary dictionaryWithObject: value forKey: @"k"];
    return [NSPropertyListSerialization dataFromPropertyList: values format: format errorDescription: NULL];
}

// The line of the value in XML.
static void printXML(id value) {
    NSString *text = [[NSString alloc] initWithData: list(value, NSPropertyListXMLFormat_v1_0) encoding: NSUTF8StringEncoding];
    for (NSString *line in [text componentsSeparatedByString: @"\n"])
        if ([line rangeOfString: @"<real>"].length || [line rangeOfString: @"<string>"].length) puts([line UTF8String]);
}

int main(int count, char **arguments) {
    [NSAutoreleasePool new];
    printXML(number(0.12345678901234566));
    printXML([NSString stringWithUTF8String: "\xf0\x9f\x98\x80"]);
    NSArray *zeros = [NSArray arrayWithObjects: number(0.0), number(-0.0), nil];
    id values = [NSPropertyListSerialization propertyListFromData: list(zeros, NSPropertyListBinaryFormat_v1_0)
        mutabilityOption: NSPropertyListImmutable format: NULL errorDescription: NULL];
    zeros = [values objectForKey: @"k"];
    printf("%g %g\n", [[zeros objectAtIndex: 0] doubleValue], [[zeros objectAtIndex: 1] doubleValue]);
    @try {
        [NSPropertyListSerialization propertyListFromData: list(number(NAN), NSPropertyListBinaryFormat_v1_0)
            mutabilityOption: NSPropertyListImmutable format: NULL errorDescription: NULL];
        puts("read");
    } @catch (NSException *exception) {
        puts("refused");
    }
    return 0;
}
