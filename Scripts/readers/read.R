# Prints what readKeyValueDB of the package XML reads under the key k of each file.
suppressPackageStartupMessages(library(XML))
for (path in commandArgs(trailingOnly = TRUE)) {
    value <- tryCatch(readKeyValueDB(path)[["k"]], error = function(error) "refused")
    if (is.null(value)) cat("NULL\n")
    else if (inherits(value, "POSIXt")) cat("date", as.numeric(value), "\n")
    else cat(class(value)[1], trimws(format(value)), "\n")
}
