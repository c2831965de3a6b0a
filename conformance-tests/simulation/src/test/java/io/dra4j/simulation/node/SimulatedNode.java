// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.simulation.disk.Disk;
import io.dra4j.simulation.disk.DiskOperation;
import io.dra4j.simulation.disk.Owner;
import io.dra4j.simulation.rewrite.RewritingLoader;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/** A node: its disk, its boots, and the processes of a driver that run on it. */
public final class SimulatedNode {

    private static final List<String> DIRECTORIES =
            List.of("/var/run/cdi", "/var/lib/kubelet/plugins_registry", "/proc/sys/kernel/random");

    private static final int LINES_TO_COMPACTION = 1000;
    private static final int OLD_LINES = 20;

    private final String name;
    private final String driver;
    private final RewritingLoader loader;
    private final Around around;
    private final Disk disk = new Disk();
    private final List<Instance> instances = new ArrayList<>();
    private final List<Instance> published = new ArrayList<>();
    private FileSystem files;
    private int started;

    /**
     * The surroundings of the node's processes.
     *
     * @param provider makes a provider for a process, for the hardware, which outlives the process
     * @param http makes a client of the API server for a process
     * @param isSerialized whether the provider is called for one claim at a time
     */
    public record Around(
            Supplier<DeviceProvider> provider,
            Supplier<HttpClient> http,
            DiskFaults faults,
            Registry registry,
            boolean isSerialized) {}

    /** The kubelet, which finds drivers. */
    public interface Registry {

        /** Finds a driver, and returns the object by which the node knows it from then on. */
        Plugin published(Plugin plugin, Process process);

        void withdrawn(Plugin known);
    }

    /** Faults of operations on the disk. */
    @FunctionalInterface
    public interface DiskFaults {

        DiskFaults NONE = (process, operation) -> Owner.Outcome.ALL;

        /** Decides as {@link Owner#before} does; it may kill the process. */
        Owner.Outcome before(Process process, DiskOperation operation) throws IOException;
    }

    public SimulatedNode(String name, String driver, RewritingLoader loader, Around around) {
        this.name = name;
        this.driver = driver;
        this.loader = loader;
        this.around = around;
        disk.temporary("/var/run");
        disk.temporary("/proc");
        files = boot();
        Simulation.atEnd(this::killAll);
    }

    /** Creates the files of a freshly booted node, with a new boot id. */
    private FileSystem boot() {
        FileSystem mounted = disk.outside(new Root());
        try {
            for (String directory : DIRECTORIES) {
                Files.createDirectories(mounted.getPath(directory));
            }
            Files.createDirectories(mounted.getPath("/var/lib/kubelet/plugins", driver));
            UUID id =
                    new UUID(Simulation.random().nextLong(), Simulation.random().nextLong());
            Files.writeString(mounted.getPath("/proc/sys/kernel/random/boot_id"), id + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        disk.sync();
        return mounted;
    }

    /** An owner for access from outside, without faults. */
    private static final class Root implements Owner {
        @Override
        public Outcome before(DiskOperation operation) {
            return Outcome.ALL;
        }

        @Override
        public Instant now() {
            return Simulation.now();
        }
    }

    /** The disk, accessed without faults and without steps. */
    public Path path(String absolute) {
        return files.getPath(absolute);
    }

    /** Makes it a node on which a driver has run for a long time, so that its journal will soon be compacted. */
    public void age() {
        int lines = LINES_TO_COMPACTION - Simulation.random().nextInt(1, OLD_LINES);
        String old = IntStream.range(0, lines).mapToObj(SimulatedNode::line).collect(Collectors.joining());
        try {
            Files.writeString(path("/var/lib/kubelet/plugins/" + driver + "/claims.journal"), old);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        disk.sync();
    }

    /** The header, or the record of a claim that is gone. */
    private static String line(int number) {
        String line = "{\"file\":1,\"line\":" + number
                + (number == 0
                        ? ",\"record\":{\"format\":\"dra4j-claims\",\"version\":1}"
                        : ",\"claim\":\"old\",\"record\":{\"forget\":\"old\"}");
        CRC32C sum = new CRC32C();
        sum.update(line.getBytes(StandardCharsets.UTF_8));
        return "%s,\"crc32c\":\"%08x\"}\n".formatted(line, sum.getValue());
    }

    public Disk disk() {
        return disk;
    }

    public String name() {
        return name;
    }

    public String driver() {
        return driver;
    }

    /** Starts a process of the driver, which serves some time later. */
    public Instance start() {
        Instance instance = new Instance("driver-" + ++started);
        instances.add(instance);
        Simulation.start(instance.process, "main", instance::run);
        return instance;
    }

    /** The processes that were started, and have neither ended nor been killed. */
    public List<Instance> running() {
        return instances.stream().filter(instance -> !instance.process.isDead()).toList();
    }

    /** The driver that the kubelet finds: the last that was published. */
    public Optional<Plugin> plugin() {
        return published.isEmpty() ? Optional.empty() : Optional.of(published.get(published.size() - 1));
    }

    /** Kills all processes; the kernel keeps running, so nothing that was written is lost. */
    public void killAll() {
        running().forEach(Instance::kill);
    }

    /** Cuts the power: what was not synced is lost, or a part of it. */
    public void losePower() {
        killAll();
        disk.losePower(Simulation.random());
        files = boot();
    }

    /** Reboots in an orderly way. */
    public void reboot() {
        killAll();
        disk.reboot();
        files = boot();
    }

    /** A process of the driver. */
    public final class Instance implements Host, Owner, Plugin {
        private final Process process;
        private final FileSystem mounted;
        private final Program program = loader.make(Program.class, "io.dra4j.simulation.inside.DriverProgram");
        private Optional<Plugin> plugin = Optional.empty();
        private boolean hasStarted;

        private Instance(String uid) {
            this.process = Simulation.newProcess(uid, this);
            this.mounted = disk.mount(this);
        }

        private void run() {
            try {
                program.start();
                hasStarted = true;
            } catch (RuntimeException e) {
                Simulation.note("the driver does not start: " + e.getMessage());
                kill();
            }
        }

        public Process process() {
            return process;
        }

        /** Returns whether it serves. */
        public boolean hasStarted() {
            return hasStarted && !process.isDead();
        }

        /** Ends it as SIGKILL does. */
        public void kill() {
            if (!process.isDead()) {
                process.kill();
                published.remove(this);
                disk.died(this);
                program.forget(mounted);
            }
        }

        /** Ends it as SIGTERM does. */
        public void stop() {
            Simulation.start(process, "stop", () -> {
                program.stop();
                kill();
            });
        }

        @Override
        public String driverName() {
            return driver;
        }

        @Override
        public String nodeName() {
            return name;
        }

        @Override
        public String podUid() {
            return process.name();
        }

        @Override
        public Path path(String absolute) {
            return mounted.getPath(absolute);
        }

        @Override
        public HttpClient http() {
            return around.http.get();
        }

        @Override
        public DeviceProvider provider() {
            return around.provider.get();
        }

        @Override
        public boolean isSerialized() {
            return around.isSerialized;
        }

        @Override
        public void publish(Plugin one) {
            plugin = Optional.of(around.registry.published(one, process));
            published.add(this);
        }

        @Override
        public void withdraw(Plugin one) {
            plugin.ifPresent(around.registry::withdrawn);
            plugin = Optional.empty();
            published.remove(this);
        }

        @Override
        public Outcome before(DiskOperation operation) throws IOException {
            Simulation.step(operation.toString());
            Outcome outcome = around.faults.before(process, operation);
            if (outcome.failure() == null) { // else the operation is partly done
                Simulation.requireAlive();
            }
            return outcome;
        }

        @Override
        public Instant now() {
            return Simulation.clock();
        }

        @Override
        public Map<ClaimRef, Answer> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
            return call(claims, "prepare " + claims, deadline, one -> one.prepare(claims, deadline, hasLeft));
        }

        @Override
        public Map<String, Answer> unprepare(List<String> uids, Instant deadline) {
            return call(uids, "unprepare " + uids, deadline, one -> one.unprepare(uids, deadline));
        }

        /** Calls the driver on a thread of its process, and waits for its answer, its end or the deadline. */
        private <K> Map<K, Answer> call(
                List<K> keys, String what, Instant deadline, Function<Plugin, Map<K, Answer>> method) {
            Map<K, Answer> answers = new LinkedHashMap<>();
            Plugin called = plugin.orElse(null);
            if (called != null && !process.isDead()) {
                Simulation.start(process, what, () -> answers.putAll(method.apply(called)));
                long limit = Duration.between(Simulation.now(), deadline).toNanos();
                Simulation.await(() -> !answers.isEmpty() || process.isDead(), limit);
            }
            keys.forEach(key -> answers.putIfAbsent(key, new Answer("the connection to the driver ended", List.of())));
            return answers;
        }
    }
}
