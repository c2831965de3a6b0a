// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The manifests that pages show are accepted by the API server, without a field that it does not know. Those of kinds
 * that it does not serve are only read as YAML; what a page marks as {@code yaml refused} has to be refused.
 */
class ManifestsOfPagesTest {

    private static final Path PAGES = Path.of("../../docs-site");
    private static final Pattern BLOCK =
            Pattern.compile("^ *```ya?ml( [^\n]*)?\n(.*?)^ *```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final ObjectReader YAML = new YAMLMapper()
            .enable(com.fasterxml.jackson.core.JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .readerFor(JsonNode.class);
    private static final KubernetesVersion NEWEST = KubernetesVersion.newest();

    /** A block of YAML of a page. */
    private record Snippet(String place, boolean refused, String text) {

        List<JsonNode> documents() throws IOException {
            List<JsonNode> documents = new ArrayList<>();
            try (MappingIterator<JsonNode> all = YAML.readValues(text)) {
                all.forEachRemaining(documents::add);
            }
            return documents;
        }

        List<JsonNode> manifests() throws IOException {
            return documents().stream()
                    .filter(document -> document.hasNonNull("apiVersion"))
                    .filter(document -> document.hasNonNull("kind"))
                    .toList();
        }
    }

    @TestFactory
    Stream<DynamicTest> areAcceptedOrRefusedAsThePageSays() throws IOException {
        return snippets().stream()
                .map(snippet -> DynamicTest.dynamicTest(snippet.place(), () -> {
                    if (snippet.refused()) {
                        refuse(snippet);
                    } else {
                        accept(snippet);
                    }
                }));
    }

    private static void accept(Snippet snippet) throws IOException {
        try (EmbeddedApiServer server = server()) {
            for (JsonNode manifest : snippet.manifests()) {
                if (isServed(manifest) || isOfDra(manifest)) {
                    server.store().putStrictly(manifest);
                }
            }
        }
    }

    private static void refuse(Snippet snippet) throws IOException {
        assertThat(snippet.manifests()).as(snippet.place()).isNotEmpty();
        try (EmbeddedApiServer server = server()) {
            for (JsonNode manifest : snippet.manifests()) {
                assertThatThrownBy(() -> server.store().putStrictly(manifest))
                        .isInstanceOfAny(ApiFailure.class, IllegalArgumentException.class);
            }
        }
    }

    @Test
    void someAreOfDra() throws IOException {
        int count = 0;
        for (Snippet snippet : snippets()) {
            count += (int)
                    snippet.manifests().stream().filter(this::isOfDraAndServed).count();
        }
        assertThat(count).isGreaterThan(10);
    }

    private boolean isOfDraAndServed(JsonNode manifest) {
        return isOfDra(manifest) && isServed(manifest);
    }

    private static boolean isOfDra(JsonNode manifest) {
        return manifest.path("apiVersion").asText().startsWith("resource.k8s.io/");
    }

    private static boolean isServed(JsonNode manifest) {
        for (ResourceKind kind : new ResourceKinds(NEWEST).all()) {
            if (kind.apiVersion().equals(manifest.path("apiVersion").asText())
                    && kind.kind().equals(manifest.path("kind").asText())) {
                return true;
            }
        }
        return false;
    }

    private static EmbeddedApiServer server() throws IOException {
        return EmbeddedApiServer.builder().version(NEWEST).start();
    }

    private static List<Snippet> snippets() throws IOException {
        List<Snippet> snippets = new ArrayList<>();
        try (Stream<Path> files = Files.walk(PAGES)) {
            for (Path page : files.filter(ManifestsOfPagesTest::isPage).sorted().toList()) {
                String text = Files.readString(page);
                for (MatchResult block : BLOCK.matcher(text).results().toList()) {
                    long line = text.substring(0, block.start()).lines().count() + 1;
                    boolean refused = " refused".equals(block.group(1));
                    String place = PAGES.relativize(page) + ":" + line;
                    snippets.add(new Snippet(place, refused, block.group(2).stripIndent()));
                }
            }
        }
        return snippets;
    }

    private static boolean isPage(Path file) {
        return file.toString().endsWith(".md") && !file.toString().contains("node_modules");
    }
}
