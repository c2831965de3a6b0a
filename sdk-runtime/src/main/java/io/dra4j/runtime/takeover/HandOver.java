// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.takeover;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.BootId;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.files.DataDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The claims of a driver that is stopped, to be handed over to another driver of its name; while this is open, it can't
 * be started.
 *
 * <p>A program writes the other driver's record between {@link #claims} and {@link #finish}. After a crash in between,
 * the handover is repeated; a driver that is started instead continues with its journal.
 */
public final class HandOver implements AutoCloseable {

    private final DataDirectory data;
    private final String bootId;
    private final List<ClaimRecord> prepared;
    private final CdiSpecs specs;
    private final LockFile locks;

    private HandOver(DataDirectory data, String bootId, List<ClaimRecord> prepared, CdiSpecs specs, LockFile locks) {
        this.data = data;
        this.bootId = bootId;
        this.prepared = prepared;
        this.specs = specs;
        this.locks = locks;
    }

    /**
     * Begins the handover.
     *
     * @param driver the driver's name
     * @param node the name of the node on which it ran
     * @param directory the driver's directory below the kubelet's plugins
     * @param cdiRoot where its CDI specs are
     * @param procRoot where the host's proc file system is mounted
     * @return its claims
     * @throws DraException if the driver runs, its journal is damaged, or a claim is not simply
     *     prepared; the message has the next step
     */
    public static HandOver begin(String driver, String node, Path directory, Path cdiRoot, Path procRoot) {
        DataDirectory data = new DataDirectory(directory);
        if (!Files.exists(data.journal())) {
            throw new DraException("There is no %s: no claims are left to hand over, or the directory is the wrong one"
                    .formatted(data.journal()));
        }
        LockFile locks = LockFile.open(data.locks());
        try {
            if (!locks.tryExcludeInstances()) {
                throw new DraException("The driver runs on this node, and would keep managing the claims; stop it"
                        + " first, through its DaemonSet, and run this again");
            }
            String boot = BootId.read(procRoot);
            return new HandOver(
                    data,
                    boot,
                    prepared(Journal.read(data.journal(), boot), boot, node),
                    new CdiSpecs(cdiRoot, driver),
                    locks);
        } catch (DraException e) {
            locks.close();
            throw e;
        }
    }

    private static List<ClaimRecord> prepared(JournalReading journal, String boot, String node) {
        List<ClaimRecord> present = journal.claims().stream()
                .filter(one -> one.bootId().equals(boot))
                .toList();
        String others = present.stream()
                .filter(one -> one.phase() != Phase.PREPARED)
                .map(one -> "- claim %s is %s".formatted(one.ref(), one.phase()))
                .collect(Collectors.joining("\n"));
        if (!others.isEmpty() || !journal.loss().complete()) {
            throw new DraException("""
                    The journal has claims that can't be handed over:
                    %s
                    Start this driver again, and drain the node with it:
                      kubectl drain %s --ignore-daemonsets --delete-emptydir-data""".formatted(others.isEmpty() ? "- some that are lost" : others, node));
        }
        return present;
    }

    /** Returns the claims that are prepared in this boot; claims of an earlier boot are left out. */
    public List<HeldClaim> claims() {
        return prepared.stream().map(claim -> claim.held(bootId)).toList();
    }

    /** Returns Linux's id of the current boot. */
    public String bootId() {
        return bootId;
    }

    /** Returns the driver's directory below the kubelet's plugins. */
    public Path directory() {
        return data.path();
    }

    /**
     * Completes the handover: gives CDI specs the file names of Go drivers, and moves the journal aside after all that
     * has to be repeated if it fails.
     *
     * @throws DraException if that fails; begin again
     */
    public void finish() {
        prepared.forEach(claim -> specs.handOver(claim.ref().uid()));
        try {
            for (Path file : List.of(data.bootMark(), data.pins(), data.reserve())) {
                Files.deleteIfExists(file);
            }
            locks.forgetLastLine();
            Files.move(data.journal(), data.handedOver(), StandardCopyOption.ATOMIC_MOVE);
            Files.deleteIfExists(data.locks()); // last: it keeps the driver from starting
        } catch (IOException e) {
            throw new DraException("Can't move the journal aside: " + e, e);
        }
    }

    @Override
    public void close() {
        locks.close();
    }
}
