// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.CdiView;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches for files in the CDI directories, and reads each on every event, as a runtime might.
 *
 * <p>A file that is changed after it appeared was written in place, unless it appeared when another name vanished: then
 * it was renamed, and what follows may be a change of its mode.
 */
public final class SpecWatch implements AutoCloseable {

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    private final WatchService watch = FileSystems.getDefault().newWatchService();
    private final CompletableFuture<@Nullable Void> watching;
    private final Set<Path> inPlace = new HashSet<>();
    private boolean vanished;
    private volatile boolean done;
    private volatile @Nullable String fault;

    public SpecWatch(List<Path> folders) throws IOException {
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                folder.register(
                        watch,
                        StandardWatchEventKinds.ENTRY_CREATE,
                        StandardWatchEventKinds.ENTRY_DELETE,
                        StandardWatchEventKinds.ENTRY_MODIFY);
            }
        }
        watching = Calls.async(this::look);
    }

    /** Describes a state that no reader should have seen; empty if there was none. */
    public Optional<String> fault() {
        done = true;
        watching.join();
        return Optional.ofNullable(fault);
    }

    private @Nullable Void look() {
        try {
            WatchKey key = watch.poll(100, TimeUnit.MILLISECONDS);
            while (key != null || !done) {
                if (key != null) {
                    Path folder = (Path) key.watchable();
                    key.pollEvents().forEach(event -> happened(folder, event));
                    key.reset();
                }
                key = watch.poll(100, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    private void happened(Path folder, WatchEvent<?> event) {
        Path file = folder.resolve(String.valueOf(event.context()));
        if (event.kind() == StandardWatchEventKinds.ENTRY_DELETE) {
            vanished |= !CdiView.isSpec(file.toString());
            inPlace.remove(file);
        } else if (CdiView.isSpec(file.toString())) {
            if (event.kind() == StandardWatchEventKinds.ENTRY_CREATE) {
                if (!vanished) {
                    inPlace.add(file);
                }
                vanished = false;
            } else if (inPlace.contains(file)) {
                fault = file.getFileName() + " was still being written after it had appeared";
            }
            read(file);
        }
    }

    private void read(Path file) {
        Path name = file.getFileName();
        try {
            byte[] content = Files.readAllBytes(file);
            JsonNode spec = YAML.readTree(content);
            if (!spec.isObject()) {
                fault = "a reader found " + name + " without its content";
            }
        } catch (NoSuchFileException e) {
            // it is gone now
        } catch (JsonProcessingException e) {
            fault = "a reader found half of " + name + ": " + e.getOriginalMessage();
        } catch (IOException e) {
            fault = "a reader could not read " + name + ": " + e.getMessage();
        }
    }

    @Override
    public void close() throws IOException {
        done = true;
        watching.join();
        watch.close();
    }
}
