// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.runtime.internal.driver.DriverLogging;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** The options of the log; the flags of Go's klog and component-base that manifests carry are also accepted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LoggingOptions {

    /** Flags of klog, for which Go programs have no variables either. */
    static final Set<String> NOT_IN_THE_ENVIRONMENT = Set.of("--log-dir", "--log-file", "--log-backtrace-at");

    private static final Logger LOG = LoggerFactory.getLogger(LoggingOptions.class);

    @Option(
            names = {"-v", "--v"},
            order = 100,
            paramLabel = "N",
            defaultValue = "0",
            description = "Verbosity of the log: 0 for changes on the node, 4 for details, 6 for what libraries do,"
                    + " 8 for everything. [V]%nDefault: ${DEFAULT-VALUE}")
    private int verbosity;

    @Option(
            names = "--logging-format",
            order = 101,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How to log: text or json. [LOGGING_FORMAT]%nDefault: ${DEFAULT-VALUE}")
    private LogFormat format;

    @Option(
            names = "--vmodule",
            paramLabel = "PATTERN=N,...",
            hidden = true,
            description = "No effect, which is logged: it names source files of a Go program; -v applies to all."
                    + " [VMODULE]")
    private String vmodule = "";

    @Option(
            names = {"--log-file", "--log_file"},
            paramLabel = "FILE",
            hidden = true,
            description = "No effect, which is logged: the log goes only to standard error.")
    private String file = "";

    @Option(
            names = {"--log-dir", "--log_dir"},
            paramLabel = "DIR",
            hidden = true,
            description = "No effect, which is logged: the log goes only to standard error.")
    private String directory = "";

    @Option(
            names = {"--log-backtrace-at", "--log_backtrace_at"},
            paramLabel = "FILE:LINE",
            hidden = true,
            description = "No effect, which is logged: it names a source line of a Go program; -v 4 logs stack traces.")
    private String backtrace = "";

    @Option(
            names = {
                "--logtostderr",
                "--alsologtostderr",
                "--one-output",
                "--one_output",
                "--skip-headers",
                "--skip_headers",
                "--skip-log-headers",
                "--skip_log_headers",
                "--add-dir-header",
                "--add_dir_header",
                "--log-json-split-stream",
                "--log-text-split-stream"
            },
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            hidden = true,
            description = "No effect: the log goes to standard error, in the lines of this program.")
    private List<Boolean> layout = List.of();

    @Option(
            names = {
                "--stderrthreshold",
                "--log-flush-frequency",
                "--log-file-max-size",
                "--log_file_max_size",
                "--log-json-info-buffer-size",
                "--log-text-info-buffer-size"
            },
            paramLabel = "VALUE",
            hidden = true,
            description = "No effect: each line is written immediately, to standard error.")
    private List<String> buffers = List.of();

    /** The format of log lines. */
    enum LogFormat {
        /** For people: one line each, with the keys and values at its end. */
        text,
        /** For tools: one JSON object each. */
        json
    }

    int verbosity() {
        return verbosity;
    }

    boolean isJson() {
        return format == LogFormat.json;
    }

    /** Sets up the log. */
    void begin() {
        DriverLogging.configure(isJson(), verbosity);
        logIgnored();
    }

    /** Logs which given options have no effect. */
    void logIgnored() {
        Map<String, String> asked = new LinkedHashMap<>();
        asked.put("--vmodule", vmodule);
        asked.put("--log-file", file);
        asked.put("--log-dir", directory);
        asked.put("--log-backtrace-at", backtrace);
        asked.values().removeIf(value -> value.isEmpty() || value.equals(":0"));
        asked.forEach((option, value) -> LOG.atWarn()
                .addKeyValue(LogField.OPTION, option)
                .addKeyValue(LogField.VALUE, value)
                .log("An option has no effect: this program logs only to standard error, with the verbosity of -v"));
    }
}
