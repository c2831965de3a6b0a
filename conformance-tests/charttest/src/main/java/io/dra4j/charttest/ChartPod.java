// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.ProcessSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A driver's pod as the kubelet and the container runtime make it: the volumes of its manifest, a read-only root if the
 * manifest says so, its capabilities, only its own processes, and the credentials of its ServiceAccount. Programs,
 * libraries and {@code /etc} are those of this machine, read-only. It needs root.
 */
public final class ChartPod implements AutoCloseable {

    private static final String SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
    private static final String BOOT_ID = "/sys/kernel/random/boot_id";

    /** Its arguments: root, table of mounts, whether the root is read-only, privileges, output, command. */
    private static final String ENTER = """
            set -e
            root=$0 table=$1 readonly=$2 privileges=$3 output=$4
            shift 4
            [ -z "$output" ] || exec > "$output" 2>&1
            mount -t tmpfs -o mode=755 tmpfs "$root"
            for name in bin sbin lib lib64; do
                [ ! -L "/$name" ] || cp -P "/$name" "$root/"
                [ -L "/$name" ] || [ ! -d "/$name" ] || { mkdir "$root/$name"; mount --rbind "/$name" "$root/$name"; }
            done
            mkdir "$root/proc" "$root/tmp"
            mount -t proc proc "$root/proc"
            mount --bind /proc/sys/kernel/random/boot_id "$root/proc/sys/kernel/random/boot_id"
            while read -r source target mode; do
                mkdir -p "$source" "$root$target"
                mount --rbind "$source" "$root$target"
                [ "$mode" != ro ] || mount -o remount,bind,ro "$root$target"
            done < "$table"
            [ "$readonly" != true ] || mount -o remount,bind,ro "$root"
            exec chroot "$root" setpriv $privileges "$@"
            """;

    private final DriverContainer container;
    private final Programs programs;
    private final Map<String, String> environment;
    private final TestNode node;
    private final Place place;
    private final List<Instance> instances = new ArrayList<>();

    /**
     * The programs of the image, as this machine has them.
     *
     * @param folder the folder of programs, which have the names of the image's programs
     * @param others what else they need to see
     */
    public record Programs(Path folder, List<Path> others) {}

    /** A command that has ended. */
    public record Ended(int status, String output) {}

    /**
     * Makes the pod on its own node; the driver does not run yet.
     *
     * @param hostPaths folders that replace those of the node, by path
     * @param changes variables that override the manifest's
     */
    public ChartPod(
            DriverContainer container,
            String driver,
            Programs programs,
            Map<String, Path> hostPaths,
            Map<String, String> changes)
            throws IOException {
        this.container = container;
        this.programs = programs;
        environment = container.variables();
        environment.put("POD_UID", DriverContainer.POD_UID);
        environment.put("HEALTHCHECK_PORT", "0"); // on the host's network
        environment.put("HTTP_ENDPOINT", "127.0.0.1:0");
        environment.remove("METRICS_PORT");
        environment.put("PATH", programs.folder() + ":/usr/sbin:/usr/bin:/sbin:/bin");
        environment.putAll(changes);
        node = new TestNode(driver, driverProgram(List.of("true")), EmbeddedApiServer.builder());
        place = node.place()
                .withSecurePort(node.proxy().writeServiceAccount(node.place().serviceAccount(), "default"));
        Files.createDirectory(place.root().resolve("pod"));
        Files.write(place.root().resolve("pod.mounts"), mounts(hostPaths));
        describeNode();
    }

    /** Reports the node as the kubelet does, including its version. */
    private void describeNode() throws IOException {
        Path bootId = Path.of(environment.getOrDefault("PROC_ROOT", "/proc") + BOOT_ID);
        String boot = Files.readString(place.outside(bootId)).strip();
        node.api()
                .store()
                .changeStatus(
                        "nodes",
                        "",
                        TestNode.NAME,
                        object -> object.withObject("/status/nodeInfo")
                                .put("bootID", boot)
                                .put("containerRuntimeVersion", "containerd://2.1.4"));
    }

    private List<String> mounts(Map<String, Path> hostPaths) {
        List<String> lines = new ArrayList<>();
        for (String folder : List.of("/usr", "/etc", SERVICE_ACCOUNT)) {
            lines.add(folder + " " + folder + " ro");
        }
        lines.add("/dev /dev");
        lines.add("/sys /sys");
        for (JsonNode mount : container.container().path("volumeMounts")) {
            String target = mount.path("mountPath").asText();
            String source = source(mount.path("name").asText(), hostPaths);
            // Stand-ins for hardware keep their state in their folders.
            boolean readOnly = mount.path("readOnly").asBoolean() && !hostPaths.containsValue(Path.of(source));
            lines.add(source + " " + target + (readOnly ? " ro" : ""));
        }
        List<Path> seen = new ArrayList<>(List.of(Path.of(System.getProperty("java.home")), programs.folder()));
        seen.addAll(programs.others());
        seen.forEach(folder -> lines.add(folder.toAbsolutePath() + " " + folder.toAbsolutePath()));
        return lines;
    }

    private String source(String volume, Map<String, Path> hostPaths) {
        String onNode = container.hostPaths().get(volume);
        return onNode == null
                ? place.root().resolve("volume-" + volume).toString() // an emptyDir
                : String.valueOf(hostPaths.getOrDefault(onNode, Path.of(onNode)));
    }

    private ProcessDriver driverProgram(List<String> command) {
        return new ProcessDriver(
                new ProcessSettings(command, environment, true, true, List.of()), List.of(), TestNode.TIMEOUT);
    }

    private Instance start(String output, List<String> command) {
        List<String> words = new ArrayList<>(List.of("unshare", "--mount", "--propagation", "private"));
        words.addAll(List.of("--pid", "--fork", "--kill-child", "sh", "-c", ENTER));
        words.add(place.root().resolve("pod").toString());
        words.add(place.root().resolve("pod.mounts").toString());
        JsonNode security = container.container().path("securityContext");
        words.add(security.path("readOnlyRootFilesystem").asText());
        words.add(
                security.path("privileged").asBoolean()
                        ? "--clear-groups"
                        : "--clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all");
        words.add(output);
        words.addAll(command);
        Instance started = driverProgram(words).start(place, Map.of());
        instances.add(started);
        return started;
    }

    /** Starts the driver with the manifest's command, and waits until it is registered and has published. */
    public void start() throws InterruptedException {
        List<String> command = new ArrayList<>(container.commandLine(environment));
        command.set(0, Path.of(command.get(0)).getFileName().toString());
        start("", command);
        node.awaitRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
    }

    /** Runs a command in the pod, as {@code kubectl exec} does. */
    public Ended exec(String... command) throws IOException {
        Path output = place.root().resolve("output");
        int status = start(output.toString(), List.of(command))
                .awaitExit(TestNode.TIMEOUT)
                .orElseThrow(() -> new AssertionError("It did not end: " + List.of(command)));
        return new Ended(status, Files.readString(output));
    }

    /** The node. */
    public TestNode node() {
        return node;
    }

    @Override
    public void close() {
        instances.forEach(Instance::kill);
        node.close();
    }
}
