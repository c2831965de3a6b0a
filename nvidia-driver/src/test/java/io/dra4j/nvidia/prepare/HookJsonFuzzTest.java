// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The hook program's reader of JSON finds what Jackson finds, and refuses what Jackson refuses. */
@Tag("counts")
class HookJsonFuzzTest {

    private static final Path READER = Path.of("target/nvml/json");
    private static final int TEXTS = Boolean.getBoolean("dra4j.nightly") ? 2_000_000 : 50_000;
    private static final long SEED = 20_261_124;
    private static final int MOST_BYTES = 63;

    private static final List<String> GOOD = List.of(
            "{\"root\": {\"path\": \"/run/a\\u00e4\\ud83d\\ude00\\n\", \"readonly\": true}}",
            "{\"ociVersion\":\"1.1.0\",\"root\":{\"readonly\":false,\"path\":\"rootfs\"}}",
            "{\"a\":[1,-2.5e+3,0.1E-2,null,{\"path\":\"x\"}],\"root\":{\"path\":\"\u00e4\"}}",
            "{\"path\":\"b\",\"root\":[{\"path\":\"c\"}]}",
            "[{\"root\":{\"path\":\"a\"}},\"\\\"\\\\\\/\\b\\f\\r\\t\",{},[]]");

    private static final String PIECES =
            "{|}|[|]|\"|:|,|\\|\\u|\\ud83d|\\ude00|\\u0000|0|1|-|.|e|E+|true|fals|null| |\n|\u0001|\u007f"
                    + "|\"root\":|\"path\":|\"/a\"|{\"path\":\"b\"}|\u00e4|/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a";

    private static final JsonMapper LENIENT = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final JsonMapper STRICT = LENIENT.rebuild()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    @TempDir
    private Path folder;

    private final Random random = new Random(SEED);

    private String text() {
        StringBuilder text = new StringBuilder(GOOD.get(random.nextInt(GOOD.size())));
        String[] pieces = PIECES.split("\\|");
        for (int i = random.nextInt(4); i > 0; i--) {
            int at = random.nextInt(text.length() + 1);
            int end = Math.min(text.length(), at + random.nextInt(4));
            text.replace(at, end, random.nextBoolean() ? "" : pieces[random.nextInt(pieces.length)]);
        }
        return text.toString();
    }

    private List<String> read(List<String> texts) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
            all.write(length.putInt(bytes.length).array());
            all.write(bytes);
        }
        Path input = Files.write(folder.resolve("texts"), all.toByteArray());
        Path output = folder.resolve("read");
        Process process = new ProcessBuilder(READER.toAbsolutePath().toString())
                .redirectInput(input.toFile())
                .redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(process.waitFor()).isZero();
        return Files.readAllLines(output);
    }

    @Test
    void theReadersAgree() throws Exception {
        List<String> texts = new ArrayList<>(GOOD);
        while (texts.size() < TEXTS) {
            texts.add(text());
        }

        List<String> read = read(texts);

        assertThat(read).hasSameSizeAs(texts);
        for (int i = 0; i < texts.size(); i++) {
            assertThat(expected(texts.get(i))).as(texts.get(i)).contains(read.get(i));
        }
        long malformed = read.stream().filter("malformed"::equals).count();
        long absent = read.stream().filter("absent"::equals).count();
        System.out.printf(
                "fuzz: seed %d, %d JSON texts, %d malformed, %d without the string%n",
                SEED, read.size(), malformed, absent);
        assertThat(malformed).isBetween(TEXTS / 10L, TEXTS * 9L / 10);
        assertThat(absent).isGreaterThan(TEXTS / 100);
    }

    /** Two answers are right where a name is there twice, of which the reader refuses some. */
    private static List<String> expected(String text) {
        JsonNode found;
        try {
            found = tree(LENIENT, text);
        } catch (JsonProcessingException e) {
            return List.of("malformed");
        }
        try {
            return List.of(answer(tree(STRICT, text)));
        } catch (JsonProcessingException e) {
            return List.of("malformed", answer(found));
        }
    }

    private static JsonNode tree(JsonMapper mapper, String text) throws JsonProcessingException {
        JsonNode tree = mapper.readTree(text);
        if (tree.isMissingNode() || !isUnicode(tree.toString())) {
            throw new JsonProcessingException("nothing, or half of a surrogate pair") {
                private static final long serialVersionUID = 1L;
            };
        }
        return tree;
    }

    private static boolean isUnicode(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    private static String answer(JsonNode tree) {
        JsonNode path = tree.path("root").path("path");
        byte[] bytes = path.asText().getBytes(StandardCharsets.UTF_8);
        if (!path.isTextual() || bytes.length > MOST_BYTES) {
            return "absent";
        }
        return path.asText().indexOf('\0') >= 0 ? "malformed" : HexFormat.of().formatHex(bytes);
    }

    @Test
    void nestingHasAnEnd() throws Exception {
        String deep = "[".repeat(100) + "]".repeat(100);
        String deeper = "[" + deep + "]";

        assertThat(read(List.of(deep, deeper, "[".repeat(60_000)))).containsExactly("absent", "malformed", "malformed");
    }
}
