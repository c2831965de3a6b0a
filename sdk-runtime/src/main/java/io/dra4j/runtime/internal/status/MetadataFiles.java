// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.status.ClaimReport.DeviceReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The files in which containers read about their devices: one for each request of a claim.
 *
 * <p>A file holds the same object once for each version of the format, newest first, with a generation that counts its
 * changes. On the host it lies below the claim's UID, so that a claim never gets the file of an earlier claim of its
 * name, and every name fits; in the container it lies where KEP-5304 defines.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
final class MetadataFiles {

    private static final String GROUP = "metadata.resource.k8s.io/";
    private static final String IN_CONTAINERS = "/var/run/kubernetes.io/dra-device-attributes/";
    private static final String FILE = "metadata.json";
    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final ObjectWriter PRETTY = ReportJson.MAPPER.writer(twoSpaces());

    private final Path directory;
    private final String driver;
    private final List<String> versions;

    /**
     * @param directory created when the first file is written
     * @param versions of the format, in their order in a file
     */
    MetadataFiles(Path directory, String driver, List<String> versions) {
        this.directory = directory;
        this.driver = driver;
        this.versions = List.copyOf(versions);
    }

    private static DefaultPrettyPrinter twoSpaces() {
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentObjectsWith(indenter);
        printer.indentArraysWith(indenter);
        return printer;
    }

    /** Returns how the containers of a request get its file. */
    Mount mount(ClaimReport report, String request) {
        String podClaim = report.podClaimName();
        // All who may write the claim may write the annotation.
        String claim = podClaim != null && DNS_LABEL.matcher(podClaim).matches()
                ? "resourceclaimtemplates/" + podClaim
                : "resourceclaims/" + report.claim().name();
        return new Mount(
                file(report.claim().uid(), request).toString(),
                IN_CONTAINERS + claim + "/" + request + "/" + driver + "-metadata.json",
                List.of("ro", "bind"),
                null);
    }

    /**
     * Writes the reports of a claim's devices to its files; a correct file is not touched.
     *
     * @throws DraException if a file can't be written
     */
    void write(ClaimReport report) {
        for (String request : report.requestsWithMetadata()) {
            Path path = file(report.claim().uid(), request);
            MetadataFile file = new MetadataFile(path);
            try {
                long generation = file.generation();
                if (generation == 0 || !file.holds(content(report, request, generation))) {
                    Files.createDirectories(path.getParent(), DataDirectory.mode("rwxr-xr-x"));
                    file.write(content(report, request, generation + 1));
                }
            } catch (IOException e) {
                throw new DraException("Can't write the metadata file " + path + ": " + e, e);
            }
        }
    }

    private byte[] content(ClaimReport report, String request, long generation) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String version : versions) {
            text.append(PRETTY.writeValueAsString(object(report, request, version, generation)))
                    .append('\n');
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private ObjectNode object(ClaimReport report, String request, String version, long generation) {
        ObjectNode object =
                ReportJson.object().put("apiVersion", GROUP + version).put("kind", "DeviceMetadata");
        object.putObject("metadata")
                .put("name", report.claim().name())
                .put("namespace", report.claim().namespace())
                .put("uid", report.claim().uid())
                .put("generation", generation);
        if (report.podClaimName() != null) {
            object.put("podClaimName", report.podClaimName());
        }
        ArrayNode requests = object.putArray("requests");
        for (DeviceReport device : report.devices()) {
            if (device.request().equals(request) && device.metadata() != null) {
                devices(requests, device.qualifiedRequest())
                        .addObject()
                        .put("driver", driver)
                        .put("pool", device.pool())
                        .put("name", device.device())
                        .setAll(device.metadata());
            }
        }
        return object;
    }

    /** All devices of a request are of one subrequest, so this is one entry. */
    private static ArrayNode devices(ArrayNode requests, String name) {
        for (JsonNode request : requests) {
            if (request.path("name").asText().equals(name)) {
                return (ArrayNode) request.path("devices");
            }
        }
        return requests.addObject().put("name", name).putArray("devices");
    }

    void remove(String claimUid) {
        Path own = ReportFiles.inDirectory(directory, claimUid, "");
        try {
            removeTree(own);
        } catch (IOException | UncheckedIOException | DirectoryIteratorException e) {
            throw new DraException("Can't remove the metadata files in " + own + ": " + e, e);
        }
    }

    private static void removeTree(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> inside = Files.newDirectoryStream(path)) {
                for (Path one : inside) {
                    removeTree(one);
                }
            }
        }
        Files.deleteIfExists(path);
    }

    Set<String> claimUids() {
        return ReportFiles.claimUids(directory, "");
    }

    private Path file(String claimUid, String request) {
        if (!DNS_LABEL.matcher(request).matches()) {
            throw new DraException("Not the name of a request: it can't be part of a path");
        }
        return ReportFiles.inDirectory(directory, claimUid, "").resolve(request).resolve(FILE);
    }

    /**
     * A file that containers have mounted, and that may change under them.
     *
     * <p>It appears by a rename, complete. From then on it is overwritten in place, because a mount would not see a new
     * file of its name: in one write, padded with line ends to the file's length, so that it is never truncated. A
     * concurrent reader may get a mixture that is not JSON, and has to read again.
     */
    private record MetadataFile(Path path) {

        private static final byte PADDING = '\n';

        /** Returns the generation of the content; 0 if it can't be read. */
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

        /** Writes this content to the file; its directory must exist. */
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
}
