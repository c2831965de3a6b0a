// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import com.sun.jna.Function;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stand-in of the kernel that binds PCI devices to drivers.
 *
 * <p>The files to which programs only write are named pipes: a writer waits until this reads. It reads
 * no request to take a GPU from NVIDIA's driver while a process has a session of NVML, nor any from
 * a driver whose devices a test holds: as the kernel does, it lets the writer wait.
 */
public final class PciStandIn implements AutoCloseable {

    /** The driver of GPUs. */
    public static final String NVIDIA = "nvidia";

    /** The driver of devices that programs have for themselves. */
    public static final String VFIO = "vfio-pci";

    private static final long LOOK_NANOS = 10_000_000;
    private static final String NO_OVERRIDE = "(null)\n";
    private static final Duration CLOSED = Duration.ofSeconds(10);
    private static final Pattern ADDRESS = Pattern.compile("[0-9a-f]{4}:[0-9a-f:]{5}\\.[0-7]");
    private static final String BARS = """
            0x00000000d0000000 0x00000000d0ffffff 0x0000000000040200
            0x0000010000000000 0x0000010bffffffff 0x000000000014220c
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x000001f000000000 0x000001f001ffffff 0x000000000014220c
            0x0000000000005000 0x000000000000507f 0x0000000000040101
            0x0000000000000000 0x0000000000000000 0x0000000000000000
            0x00000000d1000000 0x00000000d107ffff 0x0000000000046200
            """;

    private final StandInNode node;
    private final Map<String, Integer> gpus = new LinkedHashMap<>(); // positions, by address
    private final Map<String, String> overrides = new ConcurrentHashMap<>();
    private final Map<Path, RandomAccessFile> pipes = new ConcurrentHashMap<>();
    private final List<Path> files = new CopyOnWriteArrayList<>();
    private final List<String> done = new CopyOnWriteArrayList<>();
    private final Thread thread = new Thread(this::run, "kernel");
    private final Map<Path, String> accepted = new HashMap<>(); // before a driver was held
    private volatile LongSupplier process = () -> ProcessHandle.current().pid();
    private volatile String held = ""; // the driver that lets no device go
    private volatile boolean isClosing;
    private volatile String killAt = "";
    private volatile String variant = ""; // of vfio-pci

    private PciStandIn(StandInNode node) {
        this.node = node;
    }

    /** Binds all GPUs of a node to NVIDIA's driver, each in its own IOMMU group. */
    public static PciStandIn install(StandInNode node) throws IOException {
        PciStandIn kernel = new PciStandIn(node);
        for (String driver : List.of(NVIDIA, VFIO, "snd_hda_intel")) {
            kernel.driver(driver);
        }
        Files.createDirectories(node.sysfs().resolve("class/misc/vfio"));
        try (var found = Files.list(node.sysfs().resolve("bus/pci/devices"))) {
            for (Path device : found.sorted().toList()) {
                String address = device.getFileName().toString();
                kernel.gpus.put(address, kernel.gpus.size());
                kernel.describe(address, "0x2330", "0x030200", "" + (10 + kernel.gpus.size()));
                Files.writeString(device.resolve("resource"), BARS);
                kernel.link(address, NVIDIA);
            }
        }
        kernel.thread.start();
        return kernel;
    }

    private void driver(String name) throws IOException {
        Path driver = Files.createDirectories(drivers().resolve(name));
        pipe(driver.resolve("bind"));
        pipe(driver.resolve("unbind"));
    }

    /**
     * Loads another driver of vfio for the GPUs, which the module of this name has.
     *
     * @param aliases lines of the kernel's list of modules
     */
    public void variant(String driver, String... aliases) throws IOException {
        driver(driver);
        variant = driver;
        Path release = node.proc().resolve("sys/kernel/osrelease");
        Files.writeString(release, "6.14.0-1007-nvidia-64k\n");
        Path modules = node.proc().resolve("1/root/lib/modules/6.14.0-1007-nvidia-64k");
        Files.write(Files.createDirectories(modules).resolve("modules.alias"), List.of(aliases));
        for (String gpu : gpus.keySet()) {
            Files.writeString(
                    device(gpu).resolve("modalias"), "pci:v000010DEd00002941sv000010DEsd00002046bc03sc02i00\n");
        }
    }

    private Path drivers() {
        return node.sysfs().resolve("bus/pci/drivers");
    }

    private Path device(String address) {
        return node.sysfs().resolve("bus/pci/devices").resolve(address);
    }

    private void pipe(Path file) throws IOException {
        Object[] ofOwner = {file.toString(), 0600};
        if (Function.getFunction("c", "mkfifo").invokeInt(ofOwner) != 0) {
            throw new IOException("mkfifo " + file + " failed");
        }
        files.add(file);
    }

    private void describe(String address, String id, String type, String group) throws IOException {
        Path device = device(address);
        Files.writeString(device.resolve("vendor"), "0x10de\n");
        Files.writeString(device.resolve("device"), id + "\n");
        Files.writeString(device.resolve("class"), type + "\n");
        Files.writeString(device.resolve("driver_override"), NO_OVERRIDE);
        files.add(device.resolve("driver_override"));
        Path members =
                node.sysfs().resolve("kernel/iommu_groups").resolve(group).resolve("devices");
        Files.createDirectories(members);
        Files.createSymbolicLink(members.resolve(address), device);
        Files.createSymbolicLink(device.resolve("iommu_group"), members.getParent());
    }

    /**
     * Adds a device to the group of a GPU.
     *
     * @param gpu the GPU's address
     * @param address its own address
     * @param type its class, {@code 0x040300}
     * @param driver its driver; empty for none
     */
    public void add(String gpu, String address, String type, String driver) throws IOException {
        Files.createDirectories(device(address));
        String group =
                Files.readSymbolicLink(device(gpu).resolve("iommu_group")).getFileName() + "";
        describe(address, "0x22ba", type, group);
        if (!driver.isEmpty()) {
            Files.createDirectories(drivers().resolve(driver));
            link(address, driver);
        }
    }

    /** Moves a GPU to the IOMMU group of another, as without ACS. */
    public void join(String gpu, String other) throws IOException {
        Path own = device(other).resolve("iommu_group");
        Files.delete(Files.readSymbolicLink(own).resolve("devices").resolve(other));
        Path group = Files.readSymbolicLink(device(gpu).resolve("iommu_group"));
        Files.delete(own);
        Files.createSymbolicLink(own, group);
        Files.createSymbolicLink(group.resolve("devices").resolve(other), device(other));
    }

    private void link(String address, String driver) throws IOException {
        Files.createSymbolicLink(device(address).resolve("driver"), drivers().resolve(driver));
    }

    /** Returns the addresses of the GPUs. */
    public List<String> gpus() {
        return List.copyOf(gpus.keySet());
    }

    /** Returns the driver of a device; empty for none. */
    public String driverOf(String address) {
        try {
            return Files.readSymbolicLink(device(address).resolve("driver")).getFileName() + "";
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns the only driver that a device may have, by all that was written before; empty for any. */
    public String overrideOf(String address) {
        serveAllOverrides();
        return overrides.getOrDefault(address, "");
    }

    /**
     * Returns what the kernel has done for programs, such as {@code unbind nvidia 0000:17:00.0},
     * with all overrides that were written before.
     */
    public List<String> done() {
        serveAllOverrides();
        return done;
    }

    private void serveAllOverrides() {
        try {
            serveOverrides();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Binds a device to a driver, as an administrator does. */
    public void bindByHand(String address, String driver) throws IOException {
        unbind(address);
        overrideByHand(address, driver);
        bind(address, driver);
    }

    /** Sets the only driver that a device may have next, as an administrator does. */
    public synchronized void overrideByHand(String address, String driver) throws IOException {
        overrides.put(address, driver);
        Files.writeString(device(address).resolve("driver_override"), driver + "\n");
    }

    /** Removes a device from the bus. */
    public void unplug(String address) throws IOException {
        Files.delete(device(address)); // a link
        files.removeIf(file -> file.startsWith(device(address)));
    }

    /** Sets who has made a device, {@code 0x8086}. */
    public void madeBy(String address, String vendor) throws IOException {
        Files.writeString(device(address).resolve("vendor"), vendor + "\n");
    }

    /** Lets a process other than this one be the one whose sessions of NVML count. */
    public void watch(LongSupplier pid) {
        process = pid;
    }

    /**
     * Lets a process that is not seen use all devices of a driver; empty for of none. Who writes
     * from now on waits: a pipe that is still open would take the text, and let the writer go.
     */
    public void hold(String driver) {
        held = driver;
        if (!driver.isEmpty()) {
            Path unbind = drivers().resolve(driver).resolve("unbind");
            Await.until("closed: " + unbind, CLOSED, () -> !pipes.containsKey(unbind));
        }
    }

    /** Kills the process that is watched when the kernel has done something, {@code bind nvidia}. */
    public void killAt(String action) {
        killAt = action;
    }

    /** Removes a driver, as if its module was never loaded. */
    public void unload(String driver) throws IOException {
        Files.move(drivers().resolve(driver), node.folder().resolve("unloaded-" + driver));
    }

    private void run() {
        try {
            while (!isClosing) {
                for (Path file : files) {
                    serve(file);
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
        } catch (IOException e) {
            if (!isClosing) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private boolean isInUse(String driver) throws IOException {
        try {
            return driver.equals(held) || (driver.equals(NVIDIA) && node.hasSession(process.getAsLong()));
        } catch (NoSuchFileException e) {
            return false; // the process has ended
        }
    }

    /** Returns whether a writer has opened a pipe: it would find no reader. */
    private boolean isBeingWritten(Path file) throws IOException {
        long pid = process.getAsLong();
        if (!Files.exists(Path.of("/proc", String.valueOf(pid), "fd"))) {
            return false;
        }
        long own = pid == ProcessHandle.current().pid() && pipes.containsKey(file) ? 1 : 0;
        return node.openFiles(pid).stream().filter(file::equals).count() > own;
    }

    private void serveOverrides() throws IOException {
        for (Path file : files) {
            if (file.endsWith("driver_override")) {
                serve(file);
            }
        }
    }

    private synchronized void serveOverride(Path file) throws IOException {
        String address = file.getParent().getFileName().toString();
        String text = Files.exists(file) ? Files.readString(file) : "";
        String wanted = text.equals(NO_OVERRIDE) ? "" : text.strip();
        boolean isBeingWritten = text.isEmpty() || wanted.contains("\n"); // the new text is over the old one
        if (!isBeingWritten && !wanted.equals(overrides.getOrDefault(address, ""))) {
            overrides.put(address, wanted);
            did("override", wanted, address);
        }
    }

    private synchronized void serve(Path file) throws IOException {
        if (file.endsWith("driver_override")) {
            serveOverride(file);
            return;
        }
        String driver = file.getParent().getFileName().toString();
        boolean waits = file.endsWith("unbind") && isInUse(driver);
        String fresh = !waits || pipes.containsKey(file) ? read(file) : "";
        // A text that is there came before the session: a kernel would have acted before it let the writer go.
        if (waits && (fresh.isEmpty() || driver.equals(held))) {
            accepted.merge(file, fresh, String::concat);
            if (!isBeingWritten(file)) {
                close(file); // who opens it now, waits
            }
            return;
        }
        String text = Objects.requireNonNullElse(accepted.remove(file), "") + fresh;
        if (text.isEmpty()) {
            return;
        }
        serveOverrides(); // they were written first
        Matcher addresses = ADDRESS.matcher(text);
        while (addresses.find()) {
            change(file.getFileName().toString(), driver, addresses.group());
        }
    }

    private void change(String action, String driver, String address) throws IOException {
        if (action.equals("unbind") && driverOf(address).equals(driver)) {
            unbind(address);
            did(action, driver, address);
        } else if (action.equals("bind")
                && driverOf(address).isEmpty()
                && Optional.of(overrideOf(address))
                        .filter(it -> !it.isEmpty())
                        .orElse(driver)
                        .equals(driver)) {
            bind(address, driver);
            did(action, driver, address);
        }
    }

    private void did(String action, String name, String address) {
        done.add((action + " " + name).strip() + " " + address);
        if (!killAt.isEmpty() && (action + " " + name).strip().equals(killAt)) {
            killAt = "";
            ProcessHandle.of(process.getAsLong()).orElseThrow().destroyForcibly();
        }
    }

    private void unbind(String address) throws IOException {
        Files.deleteIfExists(device(address).resolve("driver"));
        Files.deleteIfExists(device(address).resolve("vfio-dev/vfio" + gpus.get(address)));
        Files.deleteIfExists(device(address).resolve("vfio-dev"));
        see(address, false);
    }

    private void bind(String address, String driver) throws IOException {
        if (driver.equals(VFIO) || driver.equals(variant)) {
            Files.createDirectories(device(address).resolve("vfio-dev/vfio" + gpus.get(address)));
        }
        see(address, driver.equals(NVIDIA));
        link(address, driver);
    }

    private void see(String address, boolean isBound) {
        Integer gpu = gpus.get(address);
        if (gpu != null) {
            node.state().set(gpu, "unbound", isBound ? 0 : 1);
        }
    }

    @SuppressWarnings("resource") // the stream is closed with the pipe
    private String read(Path file) throws IOException {
        RandomAccessFile pipe = pipes.get(file);
        if (pipe == null) {
            if (!Files.exists(file)) {
                return ""; // its driver was removed
            }
            pipe = new RandomAccessFile(file.toFile(), "rw"); // does not wait for a writer
            pipes.put(file, pipe);
        }
        FileInputStream input = new FileInputStream(pipe.getFD());
        byte[] text = new byte[input.available()];
        int length = text.length == 0 ? 0 : input.read(text);
        return new String(text, 0, length, StandardCharsets.UTF_8);
    }

    private void close(Path file) throws IOException {
        RandomAccessFile pipe = pipes.remove(file);
        if (pipe != null) {
            pipe.close();
        }
    }

    /** Ends the kernel, and those who wait for it. */
    @Override
    public void close() throws IOException {
        isClosing = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (Path file : new ArrayList<>(files)) {
            read(file);
        }
        for (RandomAccessFile pipe : pipes.values()) {
            pipe.close();
        }
    }
}
