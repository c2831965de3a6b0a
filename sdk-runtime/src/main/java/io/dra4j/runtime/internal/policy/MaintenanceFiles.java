// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.files.FileStamp;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two files in the driver's directory by which {@code maintenance} and the driver communicate: request and answer.
 *
 * <p>Both are replaced by a rename, and the request is synced to disk first: maintenance survives crashes and reboots
 * until it is ended.
 */
public final class MaintenanceFiles {

    private static final Logger LOG = LoggerFactory.getLogger(MaintenanceFiles.class);
    private static final JsonMapper JSON = new JsonMapper();

    private final Path request;
    private final Path answer;

    public MaintenanceFiles(Path directory) {
        this.request = new DataDirectory(directory).maintenance();
        this.answer = new DataDirectory(directory).maintenanceAnswer();
    }

    /**
     * The answer of a driver to a request for maintenance.
     *
     * @param concerned how many devices of the node it concerns
     * @param published whether the cluster has the taint
     * @param suspended whether the driver released its hardware
     * @param hanging the long-running call that prevents that; {@code null} for none
     */
    public record Answer(
            String id,
            long concerned,
            boolean published,
            boolean suspended,
            @Nullable String hanging) {}

    /** Returns a value that changes when maintenance is requested again. */
    public Object stamp() {
        return FileStamp.of(request);
    }

    /** Returns the requested maintenance, as far as the file can be read and understood. */
    public Optional<Maintenance> read() {
        Set<String> unclear = new LinkedHashSet<>();
        @Nullable IOException failure = null;
        JsonNode form = NullNode.getInstance();
        try {
            form = JSON.readTree(Files.readString(request));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            failure = e;
        }
        Maintenance found = Maintenance.understood(form, unclear);
        if (!unclear.isEmpty()) {
            LOG.atError()
                    .setCause(failure)
                    .log(
                            "The file {} is damaged, or written by a newer release: this one can't apply its fields {}."
                                    + " The devices {} are treated as in maintenance, with the effect {}; run `maintenance on`"
                                    + " or `maintenance off`",
                            request,
                            unclear,
                            found.devices(),
                            found.effect());
        }
        return Optional.of(found);
    }

    /**
     * Requests maintenance.
     *
     * @throws DraException if the file can't be written
     */
    public void write(Maintenance maintenance) {
        try {
            replace(request, maintenance);
        } catch (IOException e) {
            throw new DraException(
                    "Can't write %s (%s); run the command as the driver's user, on its node".formatted(request, e), e);
        }
    }

    /**
     * Ends maintenance, if there is any.
     *
     * @return whether there was any
     * @throws DraException if the file can't be removed
     */
    public boolean remove() {
        try {
            return Files.deleteIfExists(request);
        } catch (IOException e) {
            throw new DraException(
                    "Can't remove %s (%s); run the command as the driver's user, on its node".formatted(request, e), e);
        }
    }

    /** Returns the driver's answer to a maintenance; empty if it has not answered yet. */
    public Optional<Answer> answer(Maintenance maintenance) {
        try {
            Answer found = JSON.readValue(Files.readString(answer), Answer.class);
            return Optional.ofNullable(found).filter(one -> maintenance.id().equals(one.id()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Answers on behalf of the driver; a failed write is tried again with the next change. */
    public void answer(Answer given) throws IOException {
        replace(answer, given);
    }

    /** Removes the answer, which no longer applies. */
    public void removeAnswer() {
        try {
            Files.deleteIfExists(answer);
        } catch (IOException e) {
            LOG.atWarn().setCause(e).log("Can't remove {}", answer);
        }
    }

    private static void replace(Path file, Object content) throws IOException {
        Path next = Files.createTempFile(file.getParent(), file.getFileName() + ".", ".tmp");
        try {
            Files.write(next, JSON.writeValueAsBytes(content)); // all of it, or an error of a full disk
            try (FileChannel channel = FileChannel.open(next, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(next);
        }
        try (FileChannel directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }
}
