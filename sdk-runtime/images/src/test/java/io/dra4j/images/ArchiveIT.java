// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.images.ImagesMain.OciIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The archives of all images. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ArchiveIT {

    /** Bytes of each archive, about 5 % above what was built last; a MB of each is busybox. */
    private static final Map<String, Long> LIMITS = Map.of(
            "dra4j-example-fake-driver", 65_500_000L,
            "dra4j-nvidia-driver", 69_000_000L,
            "dra-conformance", 93_000_000L);

    private static final int WRITABLE_BY_OTHERS = 0002;

    @TempDir
    private static Path folder;

    private static final Map<Image, Contents> CONTENTS = new HashMap<>();

    static Stream<Image> images() {
        return Image.IMAGES.stream();
    }

    /** An archive that was read. */
    private record Contents(Unpacked unpacked, List<TarArchiveEntry> entries, Path sbom, Path cache) {}

    private static Contents read(Image image) {
        return CONTENTS.computeIfAbsent(image, unread -> {
            List<TarArchiveEntry> entries = new ArrayList<>();
            Map<String, Path> some = new HashMap<>();
            Unpacked unpacked = Unpacked.of(Built.archive(image), (entry, content) -> {
                entries.add(entry);
                String path = "/" + entry.getName();
                if (path.equals(Sbom.PATH) || path.equals(image.cache())) {
                    Path file = Files.createTempFile(folder, "", "");
                    Files.copy(content, file, REPLACE_EXISTING);
                    some.put(path, file);
                }
            });
            return new Contents(unpacked, entries, some.get(Sbom.PATH), some.get(image.cache()));
        });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void isSmallEnough(Image image) throws Exception {
        assertThat(Files.size(Built.archive(image))).isLessThan(LIMITS.get(image.name()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void hasFilesOfOneTimeThatNobodyElseMayChange(Image image) throws Exception {
        List<TarArchiveEntry> entries = read(image).entries();
        Date created = Date.from(
                Instant.parse(read(image).unpacked().config().get("created").asText()));

        assertThat(entries).hasSizeGreaterThan(200);
        assertThat(entries)
                .filteredOn(TarArchiveEntry::isFile)
                .allMatch(entry -> entry.getLastModifiedDate().equals(created))
                .allMatch(entry -> entry.getLongUserId() == 0 && entry.getLongGroupId() == 0);
        assertThat(entries)
                .allMatch(entry -> entry.isFile() || entry.isDirectory())
                .allMatch(entry -> (entry.getMode() & WRITABLE_BY_OTHERS) == 0)
                .noneMatch(entry -> entry.getName().contains(".wh."));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void saysWhatItIs(Image image) throws Exception {
        JsonNode config = read(image).unpacked().config();

        assertThat(config.get("architecture").asText())
                .isEqualTo(Machine.current().architecture());
        assertThat(config.at("/config/Entrypoint/0").asText())
                .isEqualTo("/usr/bin/" + image.entryPoint().command());
        assertThat(config.at("/config/User").asText()).isEqualTo(image.equals(Image.CONFORMANCE) ? "65532:0" : "0:0");
        assertThat(label(config, "title")).isEqualTo(image.title());
        assertThat(label(config, "description")).isEqualTo(image.description());
        assertThat(config.at("/config/Labels/io.dra4j.image.aot-cache").asText())
                .isEqualTo("true");
        assertThat(label(config, "licenses")).isEqualTo("Apache-2.0");
        assertThat(Image.JARS + "/dra4j-sdk-api-" + label(config, "version") + ".jar")
                .isIn(read(image).unpacked().files());
    }

    private static String label(JsonNode config, String name) {
        return config.at("/config/Labels")
                .path("org.opencontainers.image." + name)
                .asText();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void hasAllItsPartsInItsSbom(Image image) throws Exception {
        Unpacked unpacked = read(image).unpacked();
        JsonNode sbom = new ObjectMapper().readTree(read(image).sbom().toFile());
        List<JsonNode> components = new ArrayList<>();
        components.add(sbom.at("/metadata/component"));
        sbom.get("components").forEach(components::add);

        assertThat(unpacked.files())
                .filteredOn(file -> file.endsWith(".jar"))
                .hasSizeGreaterThan(50)
                .allMatch(jar -> components.stream().anyMatch(part -> isJar(part, jar)));
        assertThat(components).extracting(part -> part.get("name").asText()).contains("OpenJDK", "libc6", "bash");
        assertThat(unpacked.files())
                .contains("/usr/share/doc/libc6/copyright", "/usr/lib/dra4j/jdk/legal/java.base/LICENSE");
        assertThat(components)
                .filteredOn(part -> part.get("name").asText().equals("picocli"))
                .singleElement()
                .matches(part -> !part.has("hashes"))
                .returns(Picocli.CHANGE, part -> part.at("/pedigree/notes").asText());
        assertThat(Built.sbom(image)).hasSameBinaryContentAs(read(image).sbom());
    }

    private static boolean isJar(JsonNode part, String file) {
        String name = Image.JARS + "/" + part.get("name").asText() + "-"
                + part.get("version").asText();
        return file.matches(Pattern.quote(name) + "(-linux-\\w+)?\\.jar");
    }

    @Test
    void isTheSameIfAMachineWithOtherAuthoritiesBuildsIt() throws Exception {
        Path archive = Built.archive(Image.FAKE_DRIVER);
        String here = Built.inputs(folder).jdk();
        Path jdk = withOtherAuthorities(Jdk.find(here, System.getenv()).home(), folder.resolve("jdk"));
        ImageBuild there = new ImageBuild(Built.inputs(folder.resolve("again"), "--jdk=" + jdk), Machine.current());

        Path copy = there.write(Image.FAKE_DRIVER, read(Image.FAKE_DRIVER).cache());

        assertThat(Unpacked.names(copy).manifest())
                .isEqualTo(read(Image.FAKE_DRIVER).unpacked().manifest());
        assertThat(Files.mismatch(archive, copy)).isEqualTo(-1);
    }

    @Test
    void areTogetherInAnIndexThatHasEqualLayersOnce() throws Exception {
        List<Path> archives = List.of(Built.archive(Image.FAKE_DRIVER), Built.archive(Image.NVIDIA_DRIVER));

        Path file = OciIndex.write(archives, folder.resolve("index.tar"), "localhost/both:1", Instant.EPOCH);

        Map<String, byte[]> blobs = Unpacked.blobs(file);
        JsonNode top = new ObjectMapper().readTree(blobs.get("index.json")).at("/manifests/0");
        assertThat(top.at("/annotations/org.opencontainers.image.ref.name").asText())
                .isEqualTo("localhost/both:1");
        String path = "blobs/" + top.get("digest").asText().replace(':', '/');
        JsonNode both = new ObjectMapper().readTree(blobs.get(path)).get("manifests");
        Set<String> contents = new TreeSet<>(List.of("index.json", "oci-layout", path));
        for (int i = 0; i < archives.size(); i++) {
            assertThat(both.get(i).get("digest"))
                    .isEqualTo(Unpacked.names(archives.get(i)).descriptor().get("digest"));
            assertThat(both.get(i).at("/platform/architecture").asText())
                    .isEqualTo(Machine.current().architecture());
            Unpacked.blobs(archives.get(i)).keySet().stream()
                    .filter(name -> name.startsWith("blobs/"))
                    .forEach(contents::add);
        }
        assertThat(blobs.keySet()).containsExactlyInAnyOrderElementsOf(contents);
        assertThat(Files.size(file)).isLessThan(Files.size(archives.get(0)) + Files.size(archives.get(1)) / 2);
    }

    /** A JDK of another machine: its files, and other certificate authorities. */
    private static Path withOtherAuthorities(Path jdk, Path copy) throws IOException {
        try (Stream<Path> files = Files.walk(jdk.toRealPath())) {
            for (Path file : files.toList()) {
                Path place = copy.resolve(jdk.toRealPath().relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(place);
                } else if (file.endsWith("lib/security/cacerts")) {
                    Files.writeString(place, "others");
                } else {
                    Files.copy(file, place, COPY_ATTRIBUTES, NOFOLLOW_LINKS);
                }
            }
        }
        assertThat(copy.resolve("lib/security/cacerts")).exists();
        return copy;
    }
}
