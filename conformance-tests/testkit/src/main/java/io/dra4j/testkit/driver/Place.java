// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import io.dra4j.testkit.kubelet.FakeKubelet;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The surroundings of a driver: its node, and the directories that it shares with kubelet and runtime.
 *
 * @param root the directory of everything that is removed in the end
 * @param node the node's name
 * @param driver the driver's name
 * @param registry the kubelet's directory of registration sockets
 * @param plugins the kubelet's plugins directory
 * @param cdi the directory of CDI specs that the driver is configured with
 * @param cdiDirectories all directories from which its node's runtimes read CDI specs; of two devices with the same
 *     name, the one in the later directory counts
 * @param namespace files that the driver's processes find at other paths than the suite
 * @param kubeconfig the kubeconfig for the API server
 * @param securePort the port of 127.0.0.1 at which the API server is found by TLS, for a driver that finds it as in a
 *     cluster; 0 for one that has the kubeconfig
 * @param log where the driver's output goes
 * @param freePort a port of 127.0.0.1 that was free
 */
public record Place(
        Path root,
        String node,
        String driver,
        Path registry,
        Path plugins,
        Path cdi,
        List<Path> cdiDirectories,
        MountNamespace namespace,
        Path kubeconfig,
        int securePort,
        Path log,
        int freePort) {

    /** The directory in which a container of a cluster finds the credentials of its pod. */
    static final String SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

    /** The directory in which a kubelet looks for registration sockets. */
    static final String REGISTRY = "/var/lib/kubelet/plugins_registry";

    private static final String NRI = "/var/run/nri";

    /** The directory of manually written, persistent CDI specs. */
    static final Path CDI_ON_DISK = Path.of("/etc/cdi");

    private static final String LOG = "driver.log";
    private static final long LOOK_NANOS = 20_000_000;
    private static final int TAIL = 20_000;

    public Place {
        cdiDirectories = List.copyOf(cdiDirectories);
    }

    /** Makes a place under {@code /tmp}: the path of a socket may have at most 107 bytes. */
    public static Place create(String node, String driver) {
        try {
            Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
            return at(
                    root,
                    node,
                    driver,
                    made(root.resolve("registry")),
                    made(root.resolve("plugins")),
                    made(root.resolve("cdi")),
                    LOG);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't make directories under /tmp", e);
        }
    }

    /** Makes a directory with the modes that it has on a node, for any umask. */
    private static Path made(Path directory) throws IOException {
        return Files.setPosixFilePermissions(
                Files.createDirectory(directory), PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** A place of an external driver; only the root belongs to the suite. */
    static Place of(String node, String driver, Path registry, Path plugins, Path cdi, String log) {
        try {
            Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
            String file = log.isEmpty() ? LOG : Path.of(log).toAbsolutePath().toString();
            return at(root, node, driver, registry, plugins, cdi, file);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't make a directory under /tmp", e);
        }
    }

    /** The place of one of several drivers of the node, which share all directories. */
    public Place of(String name) {
        return at(root, node, name, registry, plugins, cdi, name + ".log");
    }

    private static Place at(Path root, String node, String driver, Path registry, Path plugins, Path cdi, String log) {
        return new Place(
                root,
                node,
                driver,
                registry,
                plugins,
                cdi,
                List.of(cdi),
                MountNamespace.NONE,
                root.resolve("kubeconfig"),
                0,
                root.resolve(log),
                UnusedPorts.next());
    }

    /**
     * Begins to build the kubelet of the node.
     *
     * @param minor its release, the number after "1."
     */
    public FakeKubelet.Builder kubelet(int minor) {
        return FakeKubelet.builder(registry).outside(this::outside).release(minor);
    }

    /**
     * Waits until the log has a text.
     *
     * @param process logs it, unless it ends
     * @throws AssertionError if it ends first, or on a timeout
     */
    public void awaitLog(String text, Instance process, Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        String log = "";
        boolean runs = true;
        while (runs && System.nanoTime() < end) {
            LockSupport.parkNanos(LOOK_NANOS);
            runs = process.isAlive(); // before it is read, so that the last lines are there
            log = new String(Files.readAllBytes(this.log), StandardCharsets.UTF_8); // in any encoding
            if (log.contains(text)) {
                return;
            }
        }
        throw new AssertionError("\"%s\" was not logged: %s".formatted(text, log));
    }

    /** Returns what was logged after the first {@code from} bytes, or the end of it; empty without a log. */
    public String logSince(long from) {
        return tail(log, from);
    }

    /**
     * Returns the end of a file in any encoding, after its first {@code from} bytes, or of one that has been rotated
     * since; empty if there is no file.
     */
    static String tail(Path file, long from) {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "r")) {
            long begin = Math.max(from > bytes.length() ? 0 : from, bytes.length() - TAIL);
            byte[] end = new byte[(int) Math.max(0, bytes.length() - begin)];
            bytes.seek(begin);
            bytes.readFully(end);
            return new String(end, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return Files.exists(file) ? "can't be read: " + e : "";
        }
    }

    /** A copy with another kubeconfig. */
    public Place withKubeconfig(Path other) {
        return with(cdiDirectories, namespace, other, securePort, freePort);
    }

    /** A copy with another port at which the API server is found by TLS. */
    public Place withSecurePort(int port) {
        return with(cdiDirectories, namespace, kubeconfig, port, freePort);
    }

    Place withCdiDirectories(List<Path> directories) {
        return with(directories, namespace, kubeconfig, securePort, freePort);
    }

    /** The same, with one more file or directory that the driver's processes find at another path. */
    Place withMount(String path, Path source) {
        return with(cdiDirectories, namespace.with(path, source), kubeconfig, securePort, freePort);
    }

    /** A copy with another free port, because two drivers need two. */
    public Place withAnotherPort() {
        return with(cdiDirectories, namespace, kubeconfig, securePort, UnusedPorts.next());
    }

    private Place with(List<Path> directories, MountNamespace mounts, Path config, int port, int free) {
        return new Place(root, node, driver, registry, plugins, cdi, directories, mounts, config, port, log, free);
    }

    /**
     * Returns the directory of a service account's files, which the kubeconfig names and a driver
     * in a cluster has mounted; an external driver may have none.
     */
    public Path serviceAccount() {
        return root.resolve("service-account");
    }

    /**
     * The same, with a directory for a container runtime's NRI socket, which is at {@code
     * /var/run/nri} in a mount namespace.
     */
    public Place withNri() {
        try {
            Path directory = Files.createDirectory(nriSocket().getParent());
            return canReboot() ? withMount(NRI, directory) : this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The path of a container runtime's NRI socket. */
    public Path nriSocket() {
        return root.resolve("nri/nri.sock");
    }

    /** Returns whether the driver finds the API server as in a cluster. */
    public boolean isInCluster() {
        return namespace.mounts().containsKey(SERVICE_ACCOUNT);
    }

    /** Returns whether the driver finds the run's directories at the kubelet's standard paths. */
    public boolean hasStandardPaths() {
        return namespace.mounts().containsKey(REGISTRY);
    }

    /** Returns whether the driver has made a registration socket at the standard path of the host. */
    public boolean hasStray() {
        return !hasStandardPaths() && hasStray(Path.of(REGISTRY));
    }

    /** The same for a registry of the host: a socket there that is newer than this place. */
    boolean hasStray(Path standard) {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(standard, driver + "*.sock")) {
            FileTime made = Files.getLastModifiedTime(kubeconfig);
            for (Path socket : sockets) {
                if (Files.getLastModifiedTime(socket).compareTo(made) >= 0) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return false; // no kubelet exists
        }
    }

    /** The path at which the suite finds a path of the driver. */
    public Path outside(Path path) {
        return namespace.outside(path);
    }

    Place withBootId() {
        Place booted = withMount(MountNamespace.BOOT_ID, root.resolve("boot-id"));
        booted.reboot();
        return booted;
    }

    /** All paths at which the driver finds what is at a path of the host. */
    public List<Path> names(Path outside) {
        return namespace.names(outside);
    }

    /** Returns whether a directory of CDI specs is on a disk, not in memory like {@code /var/run/cdi}. */
    public boolean outlivesReboot(Path directory) {
        return directory.equals(outside(CDI_ON_DISK));
    }

    /** Returns whether {@link #reboot} can give the node another boot id. */
    public boolean canReboot() {
        return namespace.mounts().containsKey(MountNamespace.BOOT_ID);
    }

    /** Gives the node another boot id, which the driver also sees. */
    public void reboot() {
        Path file = outside(Path.of(MountNamespace.BOOT_ID));
        try {
            Files.writeString(file, UUID.randomUUID() + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write the boot id " + file, e);
        }
    }

    /** The command that runs another as a process of this place. */
    List<String> command(List<String> words, Map<String, String> environment) {
        return namespace.command(root, words, environment);
    }

    /**
     * Sets the environment of a process for this place: no kubeconfig in a cluster, and nothing of a cluster that the
     * suite itself runs in.
     */
    void enter(Map<String, String> environment) {
        environment.keySet().removeIf(name -> name.startsWith("KUBERNETES_SERVICE_"));
        environment.putAll(values());
        if (securePort > 0) {
            environment.remove("KUBECONFIG");
        }
    }

    /**
     * The variables in the environment of a driver, and in braces in its command: with the address
     * of the API server where it is found as in a cluster.
     */
    public Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("NODE_NAME", node);
        values.put("DRIVER_NAME", driver);
        values.put("KUBECONFIG", kubeconfig.toString());
        values.put("CDI_ROOT", cdi.toString());
        values.put("KUBELET_PLUGINS_DIRECTORY_PATH", plugins.toString());
        values.put("KUBELET_REGISTRAR_DIRECTORY_PATH", registry.toString());
        values.put("FREE_PORT", Integer.toString(freePort));
        if (Files.exists(nriSocket())) {
            values.put("NRI_SOCKET", nriSocket().toString());
        }
        if (securePort > 0) {
            values.put("KUBERNETES_SERVICE_HOST", "127.0.0.1");
            values.put("KUBERNETES_SERVICE_PORT", Integer.toString(securePort));
            values.put("KUBERNETES_SERVICE_PORT_HTTPS", Integer.toString(securePort));
        }
        return values;
    }

    /** Replaces {@code {NAME}} by the place's value, and {@code {ROOT}} by its root. */
    public String fill(String word) {
        String filled = word.replace("{ROOT}", root.toString());
        for (Map.Entry<String, String> value : values().entrySet()) {
            filled = filled.replace("{" + value.getKey() + "}", value.getValue());
        }
        return filled;
    }

    /**
     * Removes everything below the root, and the root; others may be removing as well.
     *
     * @return the leftovers and the reason, as a sentence; empty if there are none
     */
    public Optional<String> remove() {
        return Removal.of(root);
    }
}
