// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.testkit.driver.ProcessDriver.StandardPaths;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A driver's process at its place, in its own mount namespace. */
class ProcessDriverIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Path HOST_BOOT_ID = Path.of(MountNamespace.BOOT_ID);

    private List<String> mountsBefore;
    private Place place;

    @BeforeEach
    void remember() throws IOException {
        mountsBefore = mounts();
    }

    @AfterEach
    void leaveNothing() throws IOException {
        if (place != null) {
            place.remove();
            assertThat(place.root()).doesNotExist();
        }
        assertThat(mounts()).isEqualTo(mountsBefore);
    }

    /** The mounts of the host that a mount namespace could have left; other tests have theirs. */
    private static List<String> mounts() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.matches(".*(boot_id|kubelet|/cdi| /etc | /run | /var/lib ).*"))
                .toList();
    }

    private static void needsNamespace() {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);
    }

    private static ProcessSettings shell(String script, boolean standardPaths) {
        return shell(script, standardPaths, List.of());
    }

    private static ProcessSettings shell(String script, boolean standardPaths, List<String> made) {
        List<String> command = List.of("sh", "-c", script);
        return new ProcessSettings(command, Map.of(), standardPaths, false, made);
    }

    /** Returns the output of a script. */
    private String output(ProcessDriver driver, String... variable) throws IOException {
        if (place == null) {
            place = driver.place("node-1", "gpu.example.com");
        }
        long before = Files.exists(place.log()) ? Files.size(place.log()) : 0;
        Map<String, String> more = variable.length == 0 ? Map.of() : Map.of(variable[0], variable[1]);
        Instance instance = driver.start(place, more);
        OptionalInt status = instance.awaitExit(TIMEOUT);
        String log = Files.readString(place.log()).substring((int) before);
        assertThat(status).as(log).hasValue(0);
        return log.strip();
    }

    private static ProcessDriver driver(ProcessSettings settings, String... cdiDirectories) {
        return new ProcessDriver(settings, List.of(cdiDirectories), TIMEOUT);
    }

    @Test
    void aProcessHasABootIdThatChangesWithAReboot() throws IOException {
        needsNamespace();
        String host = Files.readString(HOST_BOOT_ID);
        ProcessDriver driver = driver(shell("cat " + MountNamespace.BOOT_ID, false));

        String first = output(driver);
        String again = output(driver);
        place.reboot();
        String rebooted = output(driver);

        assertThat(first).matches("[0-9a-f-]{36}").isNotEqualTo(host.strip()).isEqualTo(again);
        assertThat(rebooted).matches("[0-9a-f-]{36}").isNotEqualTo(first);
        assertThat(Files.readString(HOST_BOOT_ID)).isEqualTo(host);
    }

    @Test
    void theProcessThatTheSuiteKnowsIsTheDriver() throws IOException {
        ProcessDriver driver = driver(shell("echo ready $$; exec sleep 600", false));
        place = driver.place("node-1", "gpu.example.com");
        Instance instance = driver.start(place, Map.of());
        place.awaitLog("ready " + instance.pid().getAsLong(), instance, TIMEOUT);

        instance.terminate();

        assertThat(instance.awaitExit(TIMEOUT)).hasValue(128 + 15);
    }

    @Test
    void theEnvironmentIsWhole() throws IOException {
        ProcessDriver driver = new ProcessDriver(List.of("env"), Map.of("with.dot", "is {NODE_NAME}"), TIMEOUT);

        assertThat(output(driver, "POD_UID", "a b"))
                .contains("with.dot=is node-1", "POD_UID=a b", "NODE_NAME=node-1", "KUBECONFIG=/");
    }

    /** Prints the umask of a driver, in a namespace and without one, and the modes of its directory of specs. */
    public static void main(String[] args) throws IOException {
        ProcessDriver driver = new ProcessDriver(List.of("sh", "-c", "umask; ls -ld {CDI_ROOT}"), Map.of(), TIMEOUT);
        Place bare = Place.create("node-1", "gpu.example.com");
        for (Place place : List.of(bare, driver.place(bare))) {
            driver.start(place, Map.of()).awaitExit(TIMEOUT);
        }
        System.out.println(Files.readString(bare.log()));
        bare.remove();
    }

    @Test
    void theUmaskIsThatOfAContainer() throws Exception {
        List<String> underAnother = List.of("sh", "-c", "umask 0002; exec \"$@\"", "sh");
        Ended run = Ended.of(
                Map.of(),
                underAnother,
                Ended.jdk("java"),
                "-cp",
                System.getProperty("java.class.path"),
                ProcessDriverIT.class.getName());

        assertThat(run.printed().lines().filter(line -> line.matches("\\d{4}|d.*")))
                .hasSize(4)
                .allMatch(line -> line.equals("0022") || line.startsWith("drwxr-xr-x"));
    }

    @Test
    void aProgramThatIsNotThereIsNamed() {
        ProcessDriver driver = new ProcessDriver(List.of("no-such-driver"), Map.of(), Duration.ofSeconds(1));
        place = driver.place("node-1", "gpu.example.com");

        assertThatThrownBy(() -> driver.start(place, Map.of()))
                .isInstanceOf(DriverUnusable.class)
                .hasMessage(
                        "Can't run the driver: no such program: no-such-driver; give a path, or a name on the PATH");
    }

    @Test
    void standardPathsAreTheRunsAndWhatLiesBesideThemIsStillThere() throws IOException {
        needsNamespace();
        List<String> host = new ArrayList<>();
        for (String directory : List.of("/etc", "/var/lib", "/run")) {
            host.addAll(List.of(new File(directory).list()));
        }
        String script = "for d in /var/lib/kubelet/plugins /var/lib/kubelet/plugins_registry"
                + " /var/run/cdi /etc/cdi; do echo x > $d/from-driver || exit 1; done;"
                + " ls -A /etc /var/lib /run";

        String inside = output(driver(shell(script, true)));

        assertThat(inside.lines()).containsAll(host).contains("cdi", "kubelet");
        assertThat(place.cdiDirectories()).hasSize(2).last().isEqualTo(place.cdi());
        Path etc = place.cdiDirectories().get(0);
        assertThat(List.of(place.plugins(), place.registry(), place.cdi(), etc))
                .allSatisfy(directory ->
                        assertThat(directory.resolve("from-driver")).hasContent("x"));
        assertThat(List.of("/var/run/cdi", "/etc/cdi", "/var/lib/kubelet/plugins"))
                .allSatisfy(directory ->
                        assertThat(Path.of(directory, "from-driver")).doesNotExist());
        assertThat(place.outlivesReboot(etc)).isTrue();
        assertThat(place.outlivesReboot(place.cdi())).isFalse();
        assertThat(place.outside(Path.of("/var/lib/kubelet/plugins/gpu/dra.sock")))
                .isEqualTo(place.plugins().resolve("gpu/dra.sock"));
        assertThat(place.outside(Path.of("/var/run/cdi/a.json")))
                .isEqualTo(place.cdi().resolve("a.json"));
        assertThat(place.outside(Path.of("/var/lib/kubelet/plugins_of_others")))
                .isEqualTo(Path.of("/var/lib/kubelet/plugins_of_others"));
        assertThat(place.names(place.plugins().resolve("gpu"))).contains(Path.of("/var/lib/kubelet/plugins/gpu"));
    }

    @Test
    void theKubeletsPathsOfTheHostAreNeverTheDrivers() throws IOException {
        needsNamespace();

        output(driver(shell("echo x > /var/lib/kubelet/plugins_registry/from-driver", false)));

        assertThat(place.registry().resolve("from-driver")).hasContent("x");
        assertThat(Path.of("/var/lib/kubelet/plugins_registry/from-driver")).doesNotExist();
        assertThat(place.hasStandardPaths()).isTrue();
    }

    @Test
    void aSocketAtTheStandardPathIsAStrayIfItIsNewer(@TempDir Path registry) throws IOException {
        place = Place.create("node-1", "gpu.example.com");
        FileTime made = Files.getLastModifiedTime(Files.createFile(place.kubeconfig()));
        Path socket = Files.createFile(registry.resolve("gpu.example.com-1-reg.sock"));

        Files.setLastModifiedTime(socket, FileTime.from(made.toInstant().minusSeconds(1)));
        assertThat(place.hasStray(registry)).isFalse();
        Files.setLastModifiedTime(socket, made);
        assertThat(place.hasStray(registry)).isTrue();
        assertThat(place.of("other.example.com").hasStray(registry)).isFalse();
    }

    @Test
    void aSecondDirectoryOfSpecsIsTheRunsToo() throws IOException {
        needsNamespace();
        ProcessDriver driver = driver(shell("echo x > /var/run/cdi/spec", false), "{CDI_ROOT}", "/var/run/cdi");

        output(driver);

        assertThat(place.cdiDirectories()).hasSize(2).first().isEqualTo(place.cdi());
        assertThat(place.cdiDirectories().get(1).resolve("spec")).hasContent("x");
        assertThat(Path.of("/var/run/cdi/spec")).doesNotExist();
    }

    @Test
    void directoriesOfTheDaemonSetAreThereBeforeEachStart() throws IOException {
        String made = "{KUBELET_PLUGINS_DIRECTORY_PATH}/{DRIVER_NAME}";
        ProcessDriver driver = driver(shell("rmdir " + made, false, List.of(made)));

        output(driver);
        output(driver);

        assertThat(place.plugins()).isEmptyDirectory();
    }

    @Test
    void directoriesOfTheHostAreNotMade() {
        ProcessDriver driver = driver(shell("true", false, List.of("/srv/driver")));
        place = driver.place("node-1", "gpu.example.com");

        assertThatThrownBy(() -> driver.start(place, Map.of()))
                .isInstanceOf(DriverUnusable.class)
                .hasMessageContaining("driver.process.makeDirectories: /srv/driver");
        assertThat(Path.of("/srv/driver")).doesNotExist();
    }

    @Test
    void withoutANamespaceNothingIsMounted() {
        place = Place.create("node-1", "gpu.example.com");

        Place bare = new StandardPaths(shell("true", false), List.of("{CDI_ROOT}", "/var/run/cdi"))
                .in(place, "Operation not permitted");

        assertThat(bare.canReboot()).isFalse();
        assertThat(bare.command(List.of("true"), Map.of()))
                .doesNotContain("unshare")
                .endsWith("true");
        assertThat(bare.cdiDirectories()).containsExactly(place.cdi(), Path.of("/var/run/cdi"));
    }

    @Test
    void theNeedOfANamespaceIsReported() {
        place = Place.create("node-1", "gpu.example.com");

        StandardPaths paths = new StandardPaths(shell("true", true), List.of());

        assertThatThrownBy(() -> paths.in(place, "Operation not permitted"))
                .isInstanceOf(DriverUnusable.class)
                .hasMessage("driver.process.standardPaths needs a mount namespace for the driver's"
                        + " process: run the suite as root, or with CAP_SYS_ADMIN; here:"
                        + " Operation not permitted");
    }
}
