// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Specs and slices, compared by meaning. */
class ContentTest {

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    private static Content of(String file) throws IOException {
        return Content.of(Map.of("gpu.json", YAML.readTree(file)));
    }

    @Test
    void orderMakesNoDifference() throws IOException {
        Content one = of("{devices: [{name: a, containerEdits: {env: [A=1, B=2], mounts: [{hostPath: /x,"
                + " containerPath: /y, options: [ro, bind]}]}}, {name: b}], containerEdits: {hooks: [{path: /h,"
                + " hookName: x, args: [h, 1]}, {path: /h, hookName: x, args: [h, 2]}]}}");
        Content other = of("{containerEdits: {hooks: [{hookName: x, path: /h, args: [h, 2]}, {args: [h, 1], path: /h,"
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
