// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A directory of CDI specs, as runtimes read them. */
class CdiViewTest {

    @TempDir
    private Path folder;

    private CdiView with(String name, String content) throws IOException {
        Files.writeString(folder.resolve(name), content);
        return new CdiView(folder, List.of(folder));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"kind\": \"example.com/gpu\"}",
                "  {\"kind\": \"example.com/gpu\"}\n",
                "kind: example.com/gpu\n",
                "{kind: example.com/gpu, devices: [], }",
                "{\"kind\": \"example.com/gpu\"} # YAML, since it has a comment"
            })
    void aSpecIsJsonOrYamlByItsContent(String content) throws IOException {
        assertThat(with("a.json", content).specs().get("a.json").path("kind").asText())
                .isEqualTo("example.com/gpu");
        assertThat(with("b.yaml", content).specs().get("b.yaml").path("kind").asText())
                .isEqualTo("example.com/gpu");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"kind\": ", "{\"kind\": \"a\", ]", "kind: [a"})
    void aSpecThatIsNeitherIsTheDriversFault(String content) throws IOException {
        CdiView view = with("half.json", content);

        assertThatThrownBy(view::specs)
                .isInstanceOf(Violation.class)
                .hasMessageStartingWith("the CDI spec half.json can't be parsed");
    }

    @Test
    void otherFilesAreNoSpecs() throws IOException {
        assertThat(with("notes.txt", "{").specs()).isEmpty();
    }

    @Test
    void aDirectoryThatIsNotThereHasNoSpecs() {
        assertThat(new CdiView(folder, List.of(folder.resolve("none"))).specs()).isEmpty();
    }

    private static void write(Path directory, String file, String... devices) throws IOException {
        Files.createDirectories(directory);
        String list = Stream.of(devices)
                .map(name -> "{name: %s, containerEdits: {env: [IN=%s]}}".formatted(name, directory.getFileName()))
                .collect(Collectors.joining(", "));
        Files.writeString(directory.resolve(file), "{kind: example.com/gpu, devices: [%s]}".formatted(list));
    }

    @Test
    void idsAreResolvedInAllDirectoriesAndTheLastCounts() throws IOException {
        Path etc = folder.resolve("etc");
        Path run = folder.resolve("run");
        write(etc, "etc.yaml", "a", "both");
        write(run, "run.yaml", "b", "both");
        CdiView view = new CdiView(run, List.of(etc, run));

        assertThat(view.resolve("example.com/gpu=a").edits().get(0).at("/env/0").asText())
                .isEqualTo("IN=etc");
        assertThat(view.resolve("example.com/gpu=b").file()).isEqualTo("run.yaml");
        assertThat(view.resolve("example.com/gpu=both").file()).isEqualTo("run.yaml");
        assertThat(view.files()).containsOnlyKeys("run.yaml", etc + "/etc.yaml");
        assertThat(view.path(etc + "/etc.yaml")).isEqualTo(etc.resolve("etc.yaml"));
    }

    @Test
    void twoDevicesOfOneNameInOneDirectoryAreAConflict() throws IOException {
        Path etc = folder.resolve("etc");
        Path run = folder.resolve("run");
        write(etc, "etc.yaml", "a");
        write(run, "one.yaml", "a");
        write(run, "two.yaml", "a");
        CdiView view = new CdiView(run, List.of(etc, run));

        assertThatThrownBy(() -> view.resolve("example.com/gpu=a"))
                .isInstanceOf(Violation.class)
                .hasMessageContaining("defined more than once, in [one.yaml, two.yaml]");
    }
}
