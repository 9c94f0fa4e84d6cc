# Reads what ctest reported (JUnit, the input) and, for each GoogleTest program, its own report NAME.xml in `folder`. Prints a
# line per case: status (passed, failed, skipped), seconds, stage, name and, of failed ones, the end of what it said, with
# \001 for the ends of lines; separated by tabs. A process that failed without a failed case (it crashed, hung, or leaked)
# is a failed case of its own, and so is one that ran no case at all.
# Usage: awk -v stage=dev -v folder=build/dev/reports -f cases.awk build/reports/dev.xml
function attribute(line, name,    start, rest) {
    start = index(line, " " name "=\"")
    if (!start) return ""
    rest = substr(line, start + length(name) + 3)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function plain(text) {
    gsub(/&#x0[Aa];/, "\001", text)
    gsub(/&#x0[9Dd];|\r|\t/, " ", text)
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&apos;/, "'", text)
    gsub(/&amp;/, "\\&", text)
    return text
}
function tell(status, seconds, name, said) {
    printf "%s\t%s\t%s\t%s\t%s\n", status, seconds, stage, plain(name), plain(said)
}
function tell_case() {
    if (case_name == "") return
    tell(case_status, case_seconds, case_name, case_said)
    if (case_status == "failed") ++failed_cases
    case_name = ""
}
# The cases of a program; false if it left no report.
function tell_cases(file,    line, there) {
    failed_cases = 0
    cases = 0
    there = 0
    while ((getline line < file) > 0) {
        there = 1
        if (line ~ /^ *<testcase /) {
            tell_case()
            ++cases
            case_name = attribute(line, "classname") "." attribute(line, "name")
            case_seconds = attribute(line, "time")
            case_said = ""
            case_status = "passed"
            if (attribute(line, "status") == "notrun" || attribute(line, "result") ~ /skipped|suppressed/) case_status = "skipped"
        } else if (line ~ /^ *<failure message=/ && case_name != "") {
            case_status = "failed"
            case_said = case_said attribute(line, "message") "&#x0A;"
        }
    }
    close(file)
    tell_case()
    return there
}
/<testcase / {
    name = attribute($0, "name")
    seconds = attribute($0, "time")
    status = attribute($0, "status")
    count = skipped = 0
    next
}
/<\/testcase>/ {
    report = tell_cases(folder "/" name ".xml")
    said = ""
    for (i = count > 25 ? count - 25 : 0; i < count; ++i) said = said last[i % 25] "\001"
    if (report && cases == 0) tell("failed", seconds, name, "it ran no test")
    else if (status == "fail" && failed_cases == 0) tell("failed", seconds, name, said)
    else if (!report && status == "run") tell("passed", seconds, name, "")
    else if (!report) tell(skipped ? "skipped" : "failed", seconds, name, said) # a program that is not there fails
    next
}
/^[ \t]*<skipped message="(SKIP_|Disabled)/ { skipped = 1 }
{
    sub(/^[ \t]*<(failure|skipped) [^>]*>|^[ \t]*<system-out>|<\/system-out>$/, "")
    sub(/<\/system-out>$/, "")
    last[count++ % 25] = $0
}
