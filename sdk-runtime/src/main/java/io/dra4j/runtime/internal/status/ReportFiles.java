// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.files.FileStamp;
import io.dra4j.runtime.internal.files.HalfWritten;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the reports of claims' devices across restarts: one file for each claim that reports.
 *
 * <p>A file appears atomically, by a rename, and without a sync: after a reboot no claim is prepared, and reports start
 * again; if a power loss took a report, its entries in the cluster are found in the claim's object when it is prepared
 * again. A damaged report is ignored.
 */
final class ReportFiles {

    private static final Logger LOG = LoggerFactory.getLogger(ReportFiles.class);
    private static final String ENDING = ".json";
    private static final String TEMPORARY = ".tmp";

    private final Path directory;
    private final Map<String, FileStamp> known = new HashMap<>(); // by claim, as this process wrote or sent them

    /**
     * @param directory created when the first report is written
     */
    ReportFiles(Path directory) {
        this.directory = directory;
        HalfWritten.remove(directory, "*" + TEMPORARY);
    }

    /** Returns a claim's report; empty if the directory's path is blocked. */
    Optional<ClaimReport> read(String claimUid) {
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try {
            byte[] content = Files.readAllBytes(file(claimUid));
            return Optional.ofNullable(ReportJson.MAPPER.readValue(content, ClaimReport.class));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (JsonProcessingException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.PATH, file(claimUid))
                    .log("A report is damaged, and is ignored: {}", e.getOriginalMessage());
            return Optional.empty();
        } catch (IOException e) {
            known.remove(claimUid); // it is not dealt with
            throw new DraException("Can't read the report " + file(claimUid) + ": " + e, e);
        }
    }

    void write(ClaimReport report) {
        Path file = file(report.claim().uid());
        try {
            Files.createDirectories(directory, DataDirectory.mode("rwx------"));
            Path next = Files.createTempFile(directory, "", TEMPORARY);
            try {
                Files.write(next, ReportJson.MAPPER.writeValueAsBytes(report));
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(next);
            }
            know(report.claim().uid());
        } catch (IOException e) {
            throw new DraException("Can't store what a claim's devices report in " + file + ": " + e, e);
        }
    }

    /** Returns whether a claim's report is there, and neither written nor known by this process. */
    boolean isUnknown(String claimUid) {
        Path file = file(claimUid);
        return Files.exists(file) && !FileStamp.of(file).equals(known.get(claimUid));
    }

    /** Notes that a claim's report, as it is, is dealt with. */
    void know(String claimUid) {
        known.put(claimUid, FileStamp.of(file(claimUid)));
    }

    void remove(String claimUid) {
        known.remove(claimUid);
        if (!Files.isDirectory(directory)) {
            return;
        }
        try {
            Files.deleteIfExists(file(claimUid));
        } catch (IOException e) {
            throw new DraException("Can't remove " + file(claimUid) + ": " + e, e);
        }
    }

    Set<String> claimUids() {
        return claimUids(directory, ENDING);
    }

    /** Returns the UIDs of the claims that have a file in a directory; none if there is no directory. */
    static Set<String> claimUids(Path directory, String ending) {
        Set<String> uids = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + ending)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                uids.add(name.substring(0, name.length() - ending.length()));
            }
        } catch (NoSuchFileException e) {
            return Set.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new DraException("Can't list " + directory + ": " + e, e);
        }
        uids.removeIf(uid -> !ClaimRef.isUid(uid));
        return uids;
    }

    private Path file(String claimUid) {
        return inDirectory(directory, claimUid, ENDING);
    }

    /**
     * Returns the path of a claim's file in a directory.
     *
     * @throws DraException if the UID is not a plain name
     */
    static Path inDirectory(Path directory, String uid, String ending) {
        if (!ClaimRef.isUid(uid)) {
            throw new DraException("Not a claim UID: it can't be part of a path");
        }
        return directory.resolve(uid + ending);
    }
}
