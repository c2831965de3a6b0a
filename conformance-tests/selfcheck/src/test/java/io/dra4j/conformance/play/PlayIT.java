// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.selfcheck.Programs;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.driver.ProcessSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plays the demos with the fake driver, and the first of them with drivers that go wrong. */
@Tag("gate")
class PlayIT {

    private static final String GPUS = "gpu.example.com";
    private static final String NICS = "net.example.com";
    private static final Path EXAMPLE = Path.of("../../example-fake-driver");
    private static final Duration STEP_TIMEOUT = Duration.ofSeconds(30);
    private static final Pattern FOLDER = Pattern.compile("/tmp/dc-[0-9]+");

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private boolean run(List<String> command) {
        return run(settings("demo", STEP_TIMEOUT, drivers(command)), output);
    }

    private static boolean run(PlaySettings settings, OutputStream output) {
        try (Play play = new Play(settings, new PrintStream(output, true, UTF_8))) {
            return play.run();
        }
    }

    private static PlaySettings settings(String manifests, Duration stepTimeout, PlaySettings.Driver... drivers) {
        return new PlaySettings(List.of(drivers), "demo-node", EXAMPLE.resolve(manifests), stepTimeout);
    }

    private static PlaySettings.Driver[] drivers(List<String> command) {
        return new PlaySettings.Driver[] {
            new PlaySettings.Driver(GPUS, ProcessSettings.of(command, Map.of("NUM_DEVICES", "12"))),
            new PlaySettings.Driver(NICS, Programs.fake("--device-profile=net", "--num-devices=12"))
        };
    }

    /** The fake driver, started by a shell script that ends with {@code "$@"}. */
    private static List<String> scripted(String script) {
        return Stream.concat(Stream.of("sh", "-c", script, "sh"), Programs.fake().stream())
                .toList();
    }

    private String output() {
        return output.toString(UTF_8);
    }

    @AfterEach
    void nothingIsLeft() {
        Matcher folder = FOLDER.matcher(output());
        while (folder.find()) {
            assertThat(Path.of(folder.group())).doesNotExist();
            assertThat(ProcessHandle.current().descendants()).noneMatch(process -> isOf(process, folder.group()));
        }
    }

    /** Returns whether a process was started for a folder: its environment names it. */
    private static boolean isOf(ProcessHandle process, String folder) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "environ"), ISO_8859_1)
                    .contains(folder + "/");
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    @Test
    void showsTheWholeWayOfAClaim() {
        assertThat(run(scripted("echo kind: example.com/common >$CDI_ROOT/common.yaml; exec \"$@\"")))
                .as(output())
                .isTrue();

        assertThat(output())
                .contains("gpu-11 index=11")
                .contains("env    GPU_DEVICE_0_TIMESLICE_INTERVAL=Default")
                .contains("env    GPU_DEVICE_3_PARTITION_COUNT=4")
                .contains("env    GPU_DEVICE_4_TIMESLICE_INTERVAL=Long")
                .contains("demo-node/gpu-5 for [gpu] as [k8s.gpu.example.com/claim=")
                .contains("claim default/shared-gpu: the same 1 devices")
                .contains("demo-node/gpu-9 for [gpu] as [k8s.gpu.example.com/claim=")
                .contains("demo-node/nic-9 for [nic] as [k8s.net.example.com/claim=")
                .contains("env    GPU_DEVICE_9=gpu-9", "env    NET_DEVICE_9_MTU=9000")
                .contains("env    NET_DEVICE_9_INGRESS_RATE=10000000000")
                .contains("env    DRA_ADMIN_ACCESS=true")
                .contains("demo-node/gpu-10 for [container-0-request-0] as")
                .contains("no CDI spec is left")
                .endsWith("steps passed.\n");
    }

    @Nested
    class FailsWithTheReason {

        /** It is killed while it prepares, its socket's path is taken, and its directory is missing. */
        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        "$@" & d=$!; until [ "$(ls $CDI_ROOT)" ]; do sleep 0.02; done; kill -9 $d; exit 9 | 9 | FAILED in step
                        mkdir -p $KUBELET_PLUGINS_DIRECTORY_PATH/$DRIVER_NAME/dra.sock; exec "$@" | 1 | gpu.example.com/dra.sock
                        rmdir $KUBELET_PLUGINS_DIRECTORY_PATH; exec "$@" | 1 | There is no directory
                        """, quoteCharacter = '`')
        void whenTheDriverEndsByItself(String script, int status, String reason) {
            assertThat(run(scripted(script))).isFalse();

            assertThat(output())
                    .contains("gpu.example.com has ended unexpectedly, with status " + status)
                    .contains(reason);
        }

        @Test
        @Tag("nightly")
        void whenTheDriverHasOtherDevicesAfterTheCrash() {
            String forgetful = "f=$KUBECONFIG.second; n=12; [ ! -e $f ] || n=4; touch $f; NUM_DEVICES=$n exec \"$@\"";

            assertThat(run(scripted(forgetful))).isFalse();

            assertThat(output())
                    .contains("16. They are started again", "FAILED in step")
                    .doesNotContain("has ended unexpectedly");
        }

        @ParameterizedTest
        @CsvSource({
            "sleep 60, gpu.example.com has not registered within 1 s",
            "/no/such/driver, the command of gpu.example.com cannot be run"
        })
        void whenTheCommandIsNoDriver(String command, String reason) {
            List<String> words = List.of(command.split(" "));
            assertThat(run(settings("demo", Duration.ofSeconds(1), drivers(words)), output))
                    .isFalse();

            assertThat(output()).contains(reason);
        }

        @Test
        void whenTheDriverPublishesNothing() throws Exception {
            assertThat(run(Programs.bare("--variant", "H-19"))).isFalse();

            assertThat(output()).contains("FAILED in step", "gpu.example.com published no ResourceSlice within 30 s; ");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "partitions, --gpu-partitions=4",
        "shares, --gpu-allow-multiple-allocations",
        "binding-conditions, --binding-conditions",
        "taints, --fault-file=FAULTS",
        "metadata, --gpu-device-metadata",
    })
    @Tag("nightly")
    @Execution(ExecutionMode.CONCURRENT)
    void runsDemosThatNeedOptionsOfTheDriver(String demo, String option, @TempDir Path folder) throws Exception {
        Path faults = Files.writeString(folder.resolve("faults"), "gpu-0 NoSchedule ecc-error\n");
        List<String> command = Programs.fake(option.replace("FAULTS", faults.toString()));

        assertThat(run(
                        settings("demos/" + demo, Duration.ofMinutes(3), new PlaySettings.Driver(GPUS, command)),
                        output))
                .as(output())
                .isTrue();

        assertThat(output()).contains("steps passed");
    }

    /** The fake driver as an image would start it, with all paths as on a node. */
    private static PlaySettings.Driver hardWired(String name, String profile) {
        List<String> command = Programs.fake(
                "--device-profile=" + profile,
                "--num-devices=12",
                "--cdi-root=/var/run/cdi",
                "--kubelet-plugins-directory-path=/var/lib/kubelet/plugins",
                "--kubelet-registrar-directory-path=/var/lib/kubelet/plugins_registry");
        return new PlaySettings.Driver(name, new ProcessSettings(command, Map.of(), true, true, List.of()));
    }

    @Test
    @Tag("nightly")
    void standardPathsAndTheServiceAccountOfAPodAreTheDrivers() {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);

        assertThat(run(settings("demo", Duration.ofMinutes(1), hardWired(GPUS, "gpu"), hardWired(NICS, "net")), output))
                .as(output())
                .isTrue();

        assertThat(output())
                .contains("env    GPU_DEVICE_9=gpu-9", "no CDI spec is left")
                .endsWith("steps passed.\n");
    }

    @Test
    void endsAtOnceWhenItIsClosedFromOutside() {
        List<Play> playing = new ArrayList<>();
        OutputStream closer = new OutputStream() {
            @Override
            public void write(int character) {
                output.write(character);
                if (output().endsWith("and runs\n")) {
                    new Thread(playing.get(0)::close).start();
                }
            }
        };
        PlaySettings settings = settings("demo", STEP_TIMEOUT, drivers(Programs.fake()));
        Play play = new Play(settings, new PrintStream(closer, true, UTF_8));
        playing.add(play);

        assertThat(play.run()).isFalse();
        play.close();

        assertThat(output()).doesNotContain("FAILED");
        assertThat(Arrays.stream(output().split("\n")).filter(line -> line.contains("steps passed")))
                .isEmpty();
    }
}
