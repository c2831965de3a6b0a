// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.run.RunOutcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Writes what a run has found into a directory, for people and programs.
 *
 * <p>No secret that {@link Redaction} knows gets into a file. An existing report is replaced.
 */
public final class Reports {

    private static final Map<String, Function<RunOutcome, String>> FORMS = new LinkedHashMap<>();

    static {
        FORMS.put("report.html", outcome -> new HtmlReport(outcome).text());
        FORMS.put("report.yaml", outcome -> new YamlReport(outcome).text());
        FORMS.put("junit.xml", outcome -> new JunitReport(outcome).text());
        FORMS.put("coverage.md", outcome -> new CoverageReport(outcome).text());
    }

    private Reports() {}

    /**
     * Writes {@code report.html}, {@code report.yaml}, {@code junit.xml} and {@code coverage.md}.
     *
     * @param directory is created if it does not exist
     * @return the files, in this order
     * @throws IOException if a file cannot be written; the message names the directory
     */
    public static List<Path> write(RunOutcome outcome, Path directory) throws IOException {
        RunOutcome clean = Redaction.outcome(outcome);
        clear(directory);
        try {
            for (Map.Entry<String, Function<RunOutcome, String>> form : FORMS.entrySet()) {
                byte[] bytes = form.getValue().apply(clean).getBytes(StandardCharsets.UTF_8);
                Files.write(directory.resolve(form.getKey()), bytes);
            }
        } catch (FileSystemException e) {
            throw unwritable(directory, e);
        }
        return files(directory);
    }

    /** Creates the directory, and removes an earlier report, which a run that fails would leave. */
    public static void clear(Path directory) throws IOException {
        try {
            Files.createDirectories(directory);
            for (Path file : files(directory)) {
                Files.deleteIfExists(file);
            }
        } catch (FileSystemException e) {
            throw unwritable(directory, e);
        }
    }

    private static List<Path> files(Path directory) {
        return FORMS.keySet().stream().map(directory::resolve).toList();
    }

    private static IOException unwritable(Path directory, FileSystemException e) {
        // the message of the exception is hardly more than a path
        return new IOException("Can't write the reports to " + directory + ": " + e, e);
    }
}
