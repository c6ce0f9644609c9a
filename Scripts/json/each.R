# Lets jsonlite read or write. usage: … --args read PATH … | write FOLDER PATH …
suppressPackageStartupMessages(library(jsonlite))
text <- function(value) paste0('"s', paste(format(charToRaw(enc2utf8(value))), collapse = ""), '"')
canonical <- function(value) {
    if (is.null(value)) return("null")
    if (is.list(value)) {
        parts <- vapply(value, canonical, "")
        if (is.null(names(value))) return(paste0("[", paste(parts, collapse = ","), "]"))
        return(paste0("{", paste(vapply(names(value), text, ""), parts, sep = ":", collapse = ","), "}"))
    }
    if (is.logical(value)) return(tolower(as.character(value)))
    if (is.character(value)) return(text(value))
    if (is.integer(value)) return(sprintf('"i%d"', value))
    sprintf('"d%s"', paste(format(writeBin(value, raw(), endian = "big")), collapse = ""))
}
words <- commandArgs(trailingOnly = TRUE)
paths <- words[-1]
if (words[1] == "read") {
    for (path in paths) {
        cat(tryCatch(canonical(parse_json(readChar(path, file.size(path), useBytes = TRUE))), error = function(error) "refused"), "\n")
    }
} else {
    for (path in paths[-1]) {
        value <- parse_json(readChar(path, file.size(path), useBytes = TRUE))
        styles <- list(compact = toJSON(value, auto_unbox = TRUE, digits = NA, null = "null"),
            pretty = toJSON(value, auto_unbox = TRUE, digits = NA, null = "null", pretty = TRUE))
        for (style in names(styles)) {
            file <- file(file.path(paths[1], paste0(sub("[.]json$", "", basename(path)), "-", style, ".json")), "wb")
            writeBin(charToRaw(enc2utf8(styles[[style]])), file)
            close(file)
        }
    }
}
