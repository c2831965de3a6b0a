// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.selfcheck.Programs;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.TlsFront;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command {@code run}, as its users call it. */
class RunMainIT {

    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();

    private int execute(String... line) {
        CommandLine commands = ConformanceMain.commandLine();
        commands.setErr(new PrintWriter(err, true));
        return commands.execute(line);
    }

    private int run(String... more) {
        List<String> line = new ArrayList<>(List.of("run", "--report=" + folder.resolve("report")));
        line.addAll(Arrays.asList(more));
        return execute(line.toArray(String[]::new));
    }

    private static String[] fakeDriver(String... flags) {
        List<String> line = new ArrayList<>(Arrays.asList(flags));
        line.addAll(List.of("--driver-name=gpu.example.com", "--start-timeout=60", "--"));
        line.addAll(Programs.fake());
        return line.toArray(String[]::new);
    }

    @Nested
    class ThatCannotRun {

        private void isReportedInALine(int status, String... words) {
            assertThat(status).as(err.toString()).isEqualTo(3);
            assertThat(err.toString().lines()).hasSizeBetween(1, 2);
            assertThat(err.toString()).contains(words).doesNotContain("\tat ", "Exception");
            assertThat(folder.resolve("report/junit.xml")).doesNotExist();
        }

        /** RUN has a folder for reports, and FAKE the fake driver; ~ is a space within a word. */
        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                        rnu                                                       | rnu
                        rnu --help                                                | unknown command or option rnu
                        list al --help                                            | unknown command or option al
                        run --drivername=x                                        | --drivername
                        bench --json={folder}/no/x.json FAKE                      | --json: cannot write {folder}/no/x.json
                        RUN --config=none.yaml                                    | no such file
                        RUN --config={folder}/colour.yaml                         | {folder}/colour.yaml ; colour
                        RUN --config={folder}/broken.yaml                         | {folder}/broken.yaml ; line
                        RUN --config={folder}/long.yaml                           | Can't make /tmp/ ; File name too long
                        RUN --only=DRA-PREP-99 FAKE                               | DRA-PREP-99
                        RUN --kubeconfig={folder}/kubeconfig FAKE                 | 127.0.0.1:1
                        RUN --driver-name=a -- /no/such/driver                    | /no/such/driver
                        RUN --driver-name=a -- sh -c echo~no~hardware;~exit~4     | exit status 4 ; no hardware
                        RUN --only=DRA-PREP-26 --valid-config={config} FAKE       | driver.configs.valid ; TIMESLICE_INTERVAL=Default ; a device without a configuration has
                        """)
        void hasALineOfWhatIsWrong(String line, String words) throws IOException {
            Files.writeString(folder.resolve("colour.yaml"), "driver: {name: a, process: {command: [b]}, colour: red}");
            Files.writeString(folder.resolve("broken.yaml"), "driver: {name: [");
            Files.writeString(
                    folder.resolve("long.yaml"),
                    "driver: {name: a, process: {command: [b]}, cdiDirectories: ['{ROOT}/%0300d']}".formatted(0));
            Files.writeString(
                    folder.resolve("kubeconfig"), TlsFront.kubeconfig("server: http://127.0.0.1:1", "token: x"));
            // the interval is the default, so that a device without a configuration has it, too
            String config = """
                    {"parameters":{"apiVersion":"gpu.resource.example.com/v1alpha1","kind":"GpuConfig"},"effect":"TIMESLICE_INTERVAL"}""";
            String fake = "--driver-name=gpu.example.com --start-timeout=60 -- " + String.join(" ", Programs.fake());
            String filled = line.replace("RUN", "run --report={folder}/report").replace("FAKE", fake);

            isReportedInALine(
                    execute(Stream.of(filled.split(" "))
                            .map(word -> word.replace("{folder}", folder.toString())
                                    .replace("{config}", config)
                                    .replace('~', ' '))
                            .toArray(String[]::new)),
                    words.replace("{folder}", folder.toString()).split(" ; "));
        }

        @Test
        void hasAnApiServerThatIsTooOld() throws IOException {
            try (EmbeddedApiServer api = EmbeddedApiServer.builder().start();
                    ApiProxy old = ApiProxy.before(api.url())) {
                old.inject(Fault.status(404, "NotFound")
                        .on(request -> request.path().equals("/apis/resource.k8s.io/v1")));
                Path kubeconfig = old.writeKubeconfig(folder.resolve("kubeconfig"));

                isReportedInALine(
                        run("--driver-name=a", "--kubeconfig=" + kubeconfig, "--", "x"),
                        "does not serve resource.k8s.io/v1");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    run --only=DRA-PREP-01,DRA-SLICE-06 | Kubernetes 1.36, ; pass | pass
                    bench --starts=1 --idle-seconds=600 | Memory and threads are read | dra-conformance: the idle driver ended
                    """)
    void aSignalEndsTheDriverAndRemovesItsDirectories(String command, String begun, String later) throws Exception {
        Path places = folder.resolve("places");
        List<String> line = new ArrayList<>(List.of(Ended.jdk("java"), "-cp", System.getProperty("java.class.path")));
        line.add(ConformanceMain.class.getName());
        line.addAll(List.of(command.split(" ")));
        line.addAll(List.of("--driver-name=gpu.example.com", "--", "sh", "-c"));
        line.addAll(List.of("echo $$ {ROOT} >> %s; exec \"$@\"".formatted(places), "sh"));
        line.addAll(Programs.fake());
        Process process = new ProcessBuilder(line)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        BufferedReader lines = process.inputReader();
        for (String beginning : begun.split("; ")) {
            assertThat(lines.readLine()).startsWith(beginning);
        }

        process.toHandle().destroy(); // Process.destroy would close its output

        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(lines.lines()).allMatch(more -> more.startsWith(later), "of before the signal, or that it ended");
        assertThat(Files.readAllLines(places)).isNotEmpty().allSatisfy(place -> {
            assertThat(ProcessHandle.of(Long.parseLong(place.split(" ")[0]))).isEmpty();
            assertThat(Path.of(place.split(" ")[1])).doesNotExist();
        });
    }

    @Test
    void aRunOfOneRequirementWritesAllReports() throws IOException {
        String[] flags = {"--only=DRA-INFO-01", "--kubernetes=1.38", "--feature-gates=DRAResourcePoolStatus=true"};
        assertThat(run(fakeDriver(flags))).as(err.toString()).isZero();

        Path report = folder.resolve("report");
        assertThat(report.resolve("report.yaml")).content().contains("DRA-INFO-01");
        assertThat(report.resolve("junit.xml")).content().contains("node-core");
        assertThat(report.resolve("report.html"))
                .content()
                .contains(
                        "DRA-INFO-01",
                        "Kubernetes 1.38, embedded API server; feature gates: DRAResourcePoolStatus=true");
        assertThat(report.resolve("coverage.md")).isNotEmptyFile();
    }
}
