// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;

/**
 * A file that containers have mounted, and that may change under them.
 *
 * <p>It appears by a rename, complete. From then on it is written over in place, because a mount
 * would not see another file of its name: by one write, which is padded with line ends to the
 * length that the file has, so that it is never cut. A reader of that moment may get a mixture that
 * is no JSON, and has to read again.
 */
record MetadataFile(Path path) {

    private static final byte PADDING = '\n';

    /** Returns the generation of the content; 0 if there is none that can be read. */
    long generation() throws IOException {
        try (MappingIterator<JsonNode> objects =
                ReportJson.MAPPER.readerFor(JsonNode.class).readValues(Files.readAllBytes(path))) {
            return objects.hasNextValue()
                    ? objects.nextValue().at("/metadata/generation").asLong()
                    : 0;
        } catch (NoSuchFileException e) {
            return 0;
        } catch (JsonProcessingException e) {
            return 0; // torn by a crash: it is repaired in place
        }
    }

    /** Returns whether the file, which must exist, has this content, padded or not. */
    boolean holds(byte[] content) throws IOException {
        byte[] present = Files.readAllBytes(path);
        return present.length >= content.length && Arrays.equals(present, padded(content, present.length));
    }

    private static byte[] padded(byte[] content, int length) {
        byte[] padded = Arrays.copyOf(content, Math.max(content.length, length));
        Arrays.fill(padded, content.length, padded.length, PADDING);
        return padded;
    }

    /** Gives the file this content; its directory must exist. */
    void write(byte[] content) throws IOException {
        if (Files.exists(path)) {
            overwrite(padded(content, Math.toIntExact(Files.size(path))));
        } else {
            create(content);
        }
    }

    private void create(byte[] content) throws IOException {
        Path fresh = path.resolveSibling("." + path.getFileName() + ".tmp");
        Files.write(fresh, content); // over what a crash may have left
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    private void overwrite(byte[] content) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) { // again only if the disk was full
                channel.write(bytes);
            }
        }
    }
}
