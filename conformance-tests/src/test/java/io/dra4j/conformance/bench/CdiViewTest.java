// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A directory of CDI specs, as runtimes read them. */
class CdiViewTest {

    @TempDir private Path folder;

    private CdiView with(String name, String content) throws IOException {
        Files.writeString(folder.resolve(name), content);
        return new CdiView(folder);
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
    void aSpecIsJsonOrYamlWhateverItsNameSays(String content) throws IOException {
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
        assertThat(new CdiView(folder.resolve("none")).specs()).isEmpty();
    }
}
