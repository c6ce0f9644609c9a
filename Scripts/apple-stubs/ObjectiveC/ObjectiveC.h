// What only a header can say to Swift: a class with an Objective-C root, and options that Objective-C knows.

__attribute__((objc_root_class))
@interface NSObject
- (instancetype)init;
@end

typedef enum __attribute__((flag_enum, enum_extensibility(open))) NSKeyValueObservingOptions : unsigned long {
    NSKeyValueObservingOptionNew = 1,
    NSKeyValueObservingOptionOld = 2,
} NSKeyValueObservingOptions;
