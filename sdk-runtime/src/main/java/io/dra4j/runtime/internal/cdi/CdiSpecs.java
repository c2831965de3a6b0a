// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.HalfWritten;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's transient CDI specs: one file for each claim, and no other file.
 *
 * <p>A file appears whole, by a rename, and without a sync: after a reboot it is of no use anyway.
 * Its name and its devices' names are made from the claim's UID, so that no name is ever used again
 * with other content (runtimes cache specs by name). Thread-safe for different claims.
 */
public final class CdiSpecs {

    private static final String CLASS = "claim";
    private static final String ENDING = ".json";
    private static final String OTHER_ENDING = ".yaml";
    private static final String TEMPORARY = ".tmp";

    private static final Logger LOG = LoggerFactory.getLogger(CdiSpecs.class);

    /** Empty edits are invalid: what a device without edits of its own gets. */
    private static final String MARKER = "DRA4J_DEVICE_";

    private static final Set<StandardOpenOption> NEW =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path root;
    private final String vendor;

    /** Of this process alone: two may write a claim's file, in a process only the thread that works on the claim. */
    private final String temporary =
            "." + Long.toUnsignedString(ThreadLocalRandom.current().nextLong()) + TEMPORARY;

    /**
     * Takes care of the specs of a driver, and removes what a crash left half written.
     *
     * @param root the CDI directory; it is made when the first spec is written
     * @throws DraException if the driver's name can't be part of a CDI vendor
     */
    public CdiSpecs(Path root, String driverName) {
        this("k8s." + driverName, root);
        if (Files.isDirectory(root)) {
            HalfWritten.remove(root, prefix() + "*" + TEMPORARY); // which runtimes pass over
        }
    }

    private CdiSpecs(String vendor, Path root) {
        this.root = root;
        this.vendor = vendor;
        CdiRules.requireKindPart("vendor", vendor);
    }

    /** Returns the specs of a driver that may be running: to look at, not to change. */
    public static CdiSpecs reading(Path root, String driverName) {
        return new CdiSpecs("k8s." + driverName, root);
    }

    /**
     * Checks the id of a CDI device that the driver does not describe itself: a runtime refuses a
     * container for an id that it can't read.
     *
     * @throws DraException if it is none
     */
    public static void requireDeviceId(String id) {
        if (!CdiRules.isDeviceId(id)) {
            throw new DraException(
                    "The provider answered \"" + id + "\" as the id of a CDI device; it must be vendor/class=name");
        }
    }

    /** The edits of containers that use one device of a claim. */
    public record DeviceEdits(
            PoolName pool, DeviceName device, @Nullable String shareId, ContainerEdits edits) {}

    /** Returns the qualified names of a claim's devices, in the order given. */
    public List<String> ids(String claimUid, List<DeviceEdits> devices) {
        return names(claimUid, devices).stream()
                .map(name -> kind() + "=" + name)
                .toList();
    }

    /**
     * Puts a claim's spec in place; one that is there and equal is left alone.
     *
     * @param claimEdits edits, applied once, of containers that use any device of the claim
     * @param devices none removes the spec: a spec without devices is invalid
     * @throws DraException if the edits break a rule of CDI, or the file can't be written
     */
    public void write(String claimUid, ContainerEdits claimEdits, List<DeviceEdits> devices) {
        if (devices.isEmpty()) {
            remove(claimUid);
            return;
        }
        List<String> names = names(claimUid, devices);
        List<CdiSpec.Device> described = new ArrayList<>();
        for (int i = 0; i < devices.size(); i++) {
            described.add(new CdiSpec.Device(names.get(i), edits(devices.get(i))));
        }
        CdiSpec spec = new CdiSpec(kind(), claimEdits, described);
        CdiRules.check(spec);
        replace(file(claimUid), CdiJson.write(spec));
        deleteIfExists(otherForm(claimUid)); // two specs with one name would hide it
    }

    /**
     * Removes a claim's spec, also one that a driver in Go of this name has left; none is there on return.
     *
     * @throws DraException if it can't be removed
     */
    public void remove(String claimUid) {
        deleteIfExists(file(claimUid));
        deleteIfExists(otherForm(claimUid));
    }

    /**
     * Gives a claim's spec the file name by which drivers in Go remove it: JSON is YAML, too.
     *
     * @throws DraException if it can't be renamed
     */
    public void handOver(String claimUid) {
        try {
            if (Files.exists(file(claimUid))) {
                Files.move(file(claimUid), otherForm(claimUid), StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new DraException("Can't rename the CDI spec " + file(claimUid) + ": " + e, e);
        }
    }

    private static void deleteIfExists(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new DraException("Can't remove the CDI spec " + file + ": " + e, e);
        }
    }

    /**
     * Returns the UIDs of the claims that have a spec of this driver.
     *
     * @throws DraException if the directory can't be read
     */
    public Set<String> claimUids() {
        Set<String> uids = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(root)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.startsWith(prefix())
                        && name.endsWith(ENDING)
                        && !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    uids.add(name.substring(prefix().length(), name.length() - ENDING.length()));
                }
            }
        } catch (NoSuchFileException e) {
            return Set.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new DraException("Can't list the CDI directory " + root + ": " + e, e);
        }
        uids.removeIf(uid -> !ClaimRef.isUid(uid));
        return uids;
    }

    /**
     * Returns the names of the devices in a claim's spec, as far as it can be read.
     *
     * @return for instance {@code <uid>-gpu-0}; empty if there is no spec, or none that can be read
     */
    public List<String> deviceNames(String claimUid) {
        try {
            return CdiJson.deviceNames(Files.readAllBytes(file(claimUid)));
        } catch (IOException e) {
            return List.of();
        }
    }

    private void replace(Path file, byte[] content) {
        try {
            if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), content)) {
                return;
            }
            createRoot();
            Path next = root.resolve(file.getFileName() + temporary);
            try {
                write(next, content);
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                discard(next, e);
                throw e;
            }
        } catch (IOException e) {
            throw new DraException("Can't write the CDI spec " + file + ": " + e, e);
        }
    }

    private static void write(Path file, byte[] content) throws IOException {
        try (OutputStream out = Channels.newOutputStream(Files.newByteChannel(file, NEW, OWNER_ONLY))) {
            out.write(content);
        }
    }

    private static void discard(Path file, IOException cause) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Others may read the directory, as they may when a runtime makes it: CDI tools list it. */
    private void createRoot() throws IOException {
        if (!Files.isDirectory(root)) {
            Files.createDirectories(
                    root, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        }
    }

    /** A device with the name of another one of the claim is distinguished by its index. */
    private static List<String> names(String claimUid, List<DeviceEdits> devices) {
        List<String> names = new ArrayList<>();
        for (DeviceEdits device : devices) {
            String share = device.shareId() == null ? "" : "-" + device.shareId();
            String name = claimUid + "-" + device.device() + share;
            names.add(names.contains(name) ? name + "." + names.size() : name);
        }
        return names;
    }

    private static ContainerEdits edits(DeviceEdits device) {
        if (!device.edits().isEmpty()) {
            return device.edits();
        }
        String name = device.device().value().toUpperCase(Locale.ROOT).replace('-', '_');
        return ContainerEdits.builder()
                .env(MARKER + name, device.device().value())
                .build();
    }

    private Path file(String claimUid) {
        if (!ClaimRef.isUid(claimUid)) {
            throw new DraException("Not a claim UID: \"" + claimUid + "\"");
        }
        return root.resolve(prefix() + claimUid + ENDING);
    }

    /** The file of drivers written in Go, which this driver may have replaced: in YAML. */
    private Path otherForm(String claimUid) {
        return file(claimUid).resolveSibling(prefix() + claimUid + OTHER_ENDING);
    }

    private String prefix() {
        return vendor + "-" + CLASS + "_";
    }

    private String kind() {
        return vendor + "/" + CLASS;
    }
}
