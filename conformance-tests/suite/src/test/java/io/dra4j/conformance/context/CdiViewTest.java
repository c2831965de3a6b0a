// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories of CDI specs as runtimes read them, and specs and slices compared by meaning. */
class CdiViewTest {

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

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
    @ValueSource(strings = {"{\"kind\": ", "{\"kind\": \"a\", ]", "kind: [a", "{\"a\": 1, \"a\": 2}", "a: 1\na: 2"})
    void aSpecThatIsNeitherOrHasAKeyTwiceIsItsWritersFault(String content) throws IOException {
        CdiView view = with("half.json", content);
        CdiView shared = new CdiView(folder, List.of(folder), text -> text.contains("ours"));

        assertThat(shared.find("example.com/gpu=a")).isEmpty();
        assertThat(shared.changes(Content.of(Map.of("ours.json", YAML.nullNode()))))
                .containsExactly("ours.json is gone");
        assertThatThrownBy(view::specs)
                .isInstanceOf(Violation.class)
                .hasMessageStartingWith("the CDI spec half.json can't be parsed");
    }

    @Test
    void otherFilesAreNoSpecsAndADirectoryThatIsNotThereHasNone() throws IOException {
        assertThat(with("notes.txt", "{").specs()).isEmpty();
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

    @Nested
    class Contents {

        private static Content of(String file) throws IOException {
            return Content.of(Map.of("gpu.json", YAML.readTree(file)));
        }

        @Test
        void orderMakesNoDifference() throws IOException {
            Content one = of("{devices: [{name: a, containerEdits: {env: [A=1, B=2], mounts: [{hostPath: /x,"
                    + " containerPath: /y, options: [ro, bind]}]}}, {name: b}], containerEdits: {hooks: [{path: /h,"
                    + " hookName: x, args: [h, 1]}, {path: /h, hookName: x, args: [h, 2]}]}}");
            Content other =
                    of("{containerEdits: {hooks: [{hookName: x, path: /h, args: [h, 2]}, {args: [h, 1], path: /h,"
                            + " hookName: x}]}, devices: [{name: b}, {containerEdits: {mounts: [{options: [bind, ro],"
                            + " containerPath: /y, hostPath: /x}], env: [B=2, A=1]}, name: a}]}");

            assertThat(one.differences(other)).isEmpty();
            assertThat(one).isEqualTo(other);
        }

        @Test
        void aDifferenceIsNamed() throws IOException {
            Content before = of("{devices: [{name: a, containerEdits: {env: [A=2, B=2]}}, {name: b}]}");
            Content now = of("{devices: [{name: a, containerEdits: {env: [A=1]}}, {name: c}]}");

            assertThat(now.differences(before))
                    .containsExactly(
                            "gpu.json devices a env A is 1 where it was 2",
                            "gpu.json devices a env B is gone where it was 2",
                            "gpu.json devices b name is gone where it was b",
                            "gpu.json devices c name is c");
            assertThat(now.differences(Content.of(Map.of()))).containsExactly("gpu.json is new");
            assertThat(Content.of(Map.of()).differences(now)).containsExactly("gpu.json is gone");
        }

        @Test
        void theOrderOfAHooksArgumentsIsPartOfIt() throws IOException {
            assertThat(of("{containerEdits: {hooks: [{path: /h, args: [a, b]}]}}"))
                    .isNotEqualTo(of("{containerEdits: {hooks: [{path: /h, args: [b, a]}]}}"));
        }
    }
}
