// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.play.Script.GatheredEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatheredEditsTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void writeSpecs() throws IOException {
        Files.writeString(folder.resolve("one.json"), """
                {"cdiVersion": "0.6.0", "kind": "k8s.example.com/claim",
                 "containerEdits": {"env": ["NODE=a"], "hooks": [{"hookName": "h", "path": "/h"}]},
                 "devices": [
                   {"name": "x", "containerEdits": {"env": ["X=1=1"]}},
                   {"name": "y", "containerEdits": {"deviceNodes": [{"path": "/dev/y"}]}}]}
                """);
        Files.writeString(folder.resolve("two.yaml"), """
                cdiVersion: 0.5.0
                kind: k8s.example.com/static
                devices:
                - name: x
                  containerEdits:
                    mounts:
                    - {hostPath: /host, containerPath: /inside, options: [ro]}
                    additionalGids: [7]
                """);
        Files.writeString(folder.resolve("one.json.tmp"), "half a sp");
    }

    private List<String> lines(String... ids) {
        return GatheredEdits.of(new CdiView(folder, List.of(folder)), List.of(ids))
                .lines();
    }

    @Test
    void showsASpecsOwnEditsOnceAndBeforeThoseOfItsDevices() {
        assertThat(lines("k8s.example.com/claim=y", "k8s.example.com/claim=x"))
                .containsExactly("env    NODE=a", "env    X=1=1", "hook   h [path=/h]", "device /dev/y");
    }

    @Test
    void readsJsonAndYamlByContentAndNothingElse() {
        assertThat(lines("k8s.example.com/static=x"))
                .containsExactly("mount  /inside [hostPath=/host, options=[\"ro\"]]", "gid    7");
    }
}
