// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import java.util.List;
import java.util.regex.Pattern;

/** The lines of a driver's log that look like warnings or errors, in the forms that are common. */
final class Warnings {

    private static final Pattern KLOG = Pattern.compile("^[WEF]\\d{4} \\d{2}:\\d{2}:\\d{2}.*");
    private static final Pattern FIELD = Pattern.compile(
            ".*\\b(level|severity|lvl)\"?\\s*[=:]\\s*\"?(warn|error|err|fatal|crit|panic).*", Pattern.CASE_INSENSITIVE);
    private static final Pattern WORD =
            Pattern.compile(".*\\b(WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)\\b.*|^panic: .*");

    private Warnings() {}

    /** The last warnings; the last line where none looks like a warning. */
    static List<String> last(List<String> lines, int most) {
        List<String> warnings = lines.stream().filter(Warnings::isWarning).toList();
        List<String> shown = warnings.isEmpty() ? lines : warnings;
        int count = warnings.isEmpty() ? 1 : most;
        return shown.subList(Math.max(0, shown.size() - count), shown.size());
    }

    private static boolean isWarning(String line) {
        return KLOG.matcher(line).matches()
                || FIELD.matcher(line).matches()
                || WORD.matcher(line).matches();
    }
}
