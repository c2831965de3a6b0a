// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A JVM that hosts the drivers of many nodes, for another process that measures it.
 *
 * <p>It reads commands from standard input, one per line, and answers each with a line: {@code start N} starts
 * drivers until there are N, and {@code heap} collects garbage and answers with the bytes that are left. It ends with
 * its input, even if the other process is killed, and leaves the directories to that process.
 */
public final class NodesMain {

    /** The name of all drivers. */
    public static final String DRIVER = "hosted.example.com";

    /** The answer to {@code start}. */
    public static final String STARTED = "started";

    private static final String NODE = "node-";

    private NodesMain() {}

    /**
     * The command that starts it.
     *
     * @param kubeconfig the way to the API server, which has {@link #nodes} already
     * @param registry a kubelet's registry
     * @param folders where each node gets a directory; on the registry's file system
     * @param devices how many devices each node has
     */
    public static List<String> command(Path kubeconfig, Path registry, Path folders, int devices) {
        List<String> options = new ArrayList<>(JavaProgram.SHORT_LIVED);
        options.add("-Xmn8m"); // the same resident memory for new objects, with one driver or many
        options.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        List<String> command = new ArrayList<>(
                new JavaProgram(registry, options, JavaProgram.ownClassPath(), NodesMain.class.getName()).command());
        command.addAll(
                List.of(kubeconfig.toString(), registry.toString(), folders.toString(), Integer.toString(devices)));
        return command;
    }

    public static List<String> nodes(int number) {
        return IntStream.range(0, number).mapToObj(i -> NODE + i).toList();
    }

    /** Hosts drivers as told by {@link #command}. */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err); // other output must not mix with the answers
        HostedNodes nodes =
                new HostedNodes(Path.of(args[0]), Path.of(args[1]), Path.of(args[2]), Integer.parseInt(args[3]));
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = told.readLine();
        while (line != null) {
            answers.println(line.equals("heap") ? heap() : start(nodes, line));
            answers.flush();
            line = told.readLine();
        }
        System.exit(0); // drivers leave nothing but their directories
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static String start(HostedNodes nodes, String line) {
        try {
            nodes.start(nodes(Integer.parseInt(line.substring("start ".length()))));
            return STARTED;
        } catch (DriverUnusable e) {
            return String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }

    /**
     * Drivers of many nodes in this JVM, each complete with its directories, sockets, journal and client of the API
     * server.
     *
     * <p>One kubelet registers them all. It has a link to each registration socket in its registry, by the node's name:
     * drivers of the same name would take the same place there.
     */
    private static final class HostedNodes {

        private static final int AT_A_TIME = 4;
        private static final Duration LIMIT = Duration.ofMinutes(2);

        private final Path kubeconfig;
        private final Path registry;
        private final Path folders;
        private final int devices;
        private final List<DraDriver> drivers = new ArrayList<>();

        HostedNodes(Path kubeconfig, Path registry, Path folders, int devices) {
            this.kubeconfig = kubeconfig;
            this.registry = registry;
            this.folders = folders;
            this.devices = devices;
        }

        /** Starts drivers on the nodes that lack one; returns when all have published, or throws DriverUnusable. */
        void start(List<String> nodes) {
            ExecutorService starts = Executors.newFixedThreadPool(AT_A_TIME);
            try {
                List<Future<DraDriver>> started = nodes.stream()
                        .skip(drivers.size())
                        .map(node -> starts.submit(() -> start(node)))
                        .toList();
                for (Future<DraDriver> one : started) {
                    drivers.add(one.get());
                }
            } catch (ExecutionException e) {
                throw new DriverUnusable("Can't run the drivers of %d nodes in a JVM here: %s"
                        .formatted(nodes.size(), why(e.getCause())));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new DriverUnusable("Interrupted while drivers started");
            } finally {
                starts.shutdownNow();
            }
        }

        /** Leaves out the types of exceptions whose messages are sentences for people. */
        private static String why(@Nullable Throwable cause) {
            return cause instanceof DraException || cause instanceof DriverUnusable
                    ? String.valueOf(cause.getMessage())
                    : String.valueOf(cause);
        }

        private DraDriver start(String node) throws IOException, InterruptedException {
            Path folder = folders.resolve(node);
            Path sockets = Files.createDirectories(folder.resolve("registry"));
            DraDriver driver = DraDriver.builder(NodesMain.DRIVER, node, new HostedDevices(node, devices))
                    .kubeconfig(kubeconfig)
                    .cdiRoot(Files.createDirectory(folder.resolve("cdi")))
                    .kubeletPluginsDirectory(Files.createDirectory(folder.resolve("plugins")))
                    .kubeletRegistrarDirectory(sockets)
                    .build();
            driver.start();
            Files.createLink(registry.resolve(node + "-reg.sock"), socket(sockets));
            require(driver.awaitRegistered(LIMIT), node, "registered");
            require(driver.awaitPublished(LIMIT), node, "published");
            return driver;
        }

        private static Path socket(Path folder) throws IOException {
            try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder, "*.sock")) {
                return sockets.iterator().next();
            }
        }

        private static void require(boolean done, String node, String what) {
            if (!done) {
                throw new DriverUnusable(
                        "the driver of %s is not %s within %d s".formatted(node, what, LIMIT.toSeconds()));
            }
        }

        /** The devices of a hosted node: one pool, of devices with the attributes that a GPU usually has. */
        private record HostedDevices(String node, int devices) implements DeviceProvider {

            @Override
            public Inventory inventory() {
                return Inventory.of(Pool.ofNode(
                        node, IntStream.range(0, devices).mapToObj(this::device).toList()));
            }

            private Device device(int number) {
                return Device.builder("device-" + number)
                        .attribute("uuid", "GPU-%s-%08x".formatted(node, number))
                        .attribute("productName", "Hosted device")
                        .attribute("index", number)
                        .version("driverVersion", "1.0.0")
                        .capacity("memory", "80Gi")
                        .build();
            }

            @Override
            public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
                return PreparedClaim.of(claim.devices().stream()
                        .map(device -> PreparedDevice.of(
                                device,
                                ContainerEdits.builder()
                                        .env("DEVICE", device.device().value())
                                        .build()))
                        .toList());
            }

            @Override
            public void unprepare(HeldClaim claim, ClaimContext context) {
                // an environment variable is gone with its container
            }
        }
    }
}
