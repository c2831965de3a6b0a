// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are not what they should be, in the words of the real server. */
class JsonBodyTest {

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{}", " [ ] ", "0", "-19.05e+7", "9E1", "{\"a\":[1,true,{\"\\u00aF\\n\":null},[]],\"b\":false}"})
    void jsonHasNoProblem(String text) {
        assertThat(JsonSyntax.problem(bytes(text))).isEmpty();
        assertThat(JsonBody.plain(bytes(text))).contains(JsonTrees.parse(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ``          | unexpected end of JSON input
            {"a":       | unexpected end of JSON input
            {"a":1}x    | invalid character 'x' after top-level value
            01          | invalid character '1' after top-level value
            kind: x     | invalid character 'k' looking for beginning of value
            [:]         | invalid character ':' looking for beginning of value
            {'a':1}     | invalid character '\\'' looking for beginning of object key string
            {"a"}       | invalid character '}' after object key
            {"a":1"b"}  | invalid character '"' after object key:value pair
            {"a":tru}   | invalid character '}' in literal true (expecting 'e')
            [1,2}       | invalid character '}' after array element
            "a\tb"      | invalid character '\\t' in string literal
            "\\x"       | invalid character 'x' in string escape code
            "\\u00g"    | invalid character 'g' in \\u hexadecimal character escape
            -x          | invalid character 'x' in numeric literal
            1.x         | invalid character 'x' after decimal point in numeric literal
            1e+:        | invalid character ':' in exponent of numeric literal
            """)
    void theFirstWrongCharacterIsNamed(String text, String problem) {
        assertThat(JsonSyntax.problem(bytes(text))).isEqualTo(problem);
        assertThat(JsonBody.plain(bytes(text))).isEmpty();
    }

    @Test
    void repeatedFieldsAreNamedOnce() {
        byte[] json = bytes("{\"a\":1,\"b\":[{\"a\":1},{\"c\":1,\"c\":2,\"c\":3}],\"a\":{\"b\":1}}");

        assertThat(JsonBody.plain(json)).isEmpty();
        assertThat(JsonBody.repeatedFields(json)).containsExactly("b[1].c", "a");
        assertThat(JsonBody.repeatedFields(bytes("{\"a\":{\"a\":1}}"))).isEmpty();
        assertThat(JsonBody.repeatedKeys(bytes("a: {b: 1}\nc:\n  b: 1\n  b: 2\n---\nd: 1\nd: 2\n")))
                .containsExactly("line 4: key \"b\" already set in map");
    }

    @Test
    void bodiesThatAreUnrecognizedAreQuoted() {
        assertThat(Protobuf.quoted(bytes(""))).isEqualTo("<empty>");
        assertThat(Protobuf.quoted(bytes("{\"a\":1}"))).isEqualTo("{\"a\":1}");
        assertThat(Protobuf.quoted(bytes("k8s\0"))).isEqualTo("6b387300");
        assertThat(Protobuf.quoted(bytes("0".repeat(1024)))).isEqualTo("30".repeat(1024));
        assertThat(Protobuf.quoted(bytes("0".repeat(1025)))).isEqualTo("30".repeat(1024) + " ...");
    }
}
