// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Any content of a claim is understood, or refused with words for the pod's owner. */
@Tag("counts")
class ClaimFuzzTest {

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 100_000 : 5_000;
    private static final long SEED = 20261121;
    private static final ClaimRef REF = new ClaimRef("ns", "c", "uid-1");

    enum State {
        NEW,
        OLD
    }

    record Inner(@Nullable List<String> names, double ratio) {}

    record Settings(
            @Nullable String text,
            @Nullable Integer count,
            @Nullable Quantity limit,
            @Nullable Boolean flag,
            @Nullable State state,
            @Nullable Inner inner) {}

    private static final ConfigType<Settings> SETTINGS =
            ConfigType.builder("v/v1", "Settings", Settings.class).build();
    private static final String CONFIG = "{\"apiVersion\":\"v/v1\",\"kind\":\"Settings\",\"text\":\"x\",\"count\":3,"
            + "\"limit\":\"2Gi\",\"flag\":true,\"state\":\"NEW\",\"inner\":{\"names\":"
            + "[\"a\",\"b\"],\"ratio\":0.5}}";
    private static final String CLAIM =
            "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"uid-1\"},\"spec\":"
                    + "{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\""
                    + ":\"k\"}}]}},\"status\":{\"allocation\":{\"devices\":{\"results\":[{"
                    + "\"request\":\"r\",\"driver\":\"gpu.example.com\",\"pool\":\"node\","
                    + "\"device\":\"gpu-0\",\"shareID\":\"0f8fad5b-d9cb-469f-a165-70867728950e\","
                    + "\"consumedCapacity\":{\"memory\":\"10Gi\"},\"adminAccess\":true}],"
                    + "\"config\":[{\"source\":\"FromClaim\",\"requests\":[\"r\"],\"opaque\":{"
                    + "\"driver\":\"gpu.example.com\",\"parameters\":"
                    + CONFIG
                    + "}}]}}}}";
    private static final List<String> PIECES =
            List.of(("null {} [] \"\" -1 1e99 true \"\\u0000\" {\"a\": ] \"../..\" 99999999999999999999"
                            + " \"\\ud800\" , 0.1 [[[[")
                    .split(" "));

    private static final Inventory INVENTORY = Inventory.of(Pool.ofNode(
            "node",
            List.of(Device.builder("gpu-0").allowMultipleAllocations(true).build())));

    @Test
    void claimsAreReadOrRefused() {
        Random random = new Random(SEED);
        Allocations allocations = new Allocations("gpu.example.com", List.of(SETTINGS));
        int valid = 0;
        for (int i = 0; i < ROUNDS; i++) {
            String claim = mutated(CLAIM, random);
            try {
                ClaimObject object = ClaimDecoding.decode(claim);
                allocations.devices(REF, object);
                allocations.read(REF, object, INVENTORY);
                valid++;
            } catch (PrepareException | IllegalArgumentException e) {
                boolean ofTheCodec = e.getStackTrace()[0].getClassName().matches(".*(Json|Quantity)");
                assertThat(e instanceof PrepareException || ofTheCodec)
                        .as(claim + ": " + e)
                        .isTrue();
                assertThat(ofTheCodec ? "of the codec" : e.getMessage())
                        .as(claim)
                        .isNotBlank()
                        .doesNotContain("com.fasterxml", "java.");
            }
        }
        System.out.printf("claims: %d decoded, seed %d, %d valid%n", ROUNDS, SEED, valid);
        assertThat(valid).isBetween(1, ROUNDS - 1);
    }

    private static String mutated(String json, Random random) {
        StringBuilder text = new StringBuilder(json);
        for (int i = 0; i <= random.nextInt(3); i++) {
            int at = random.nextInt(Math.max(1, text.length() - 1));
            switch (random.nextInt(5)) {
                case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                case 1 -> text.deleteCharAt(at);
                case 2 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
                case 3 -> replaceAValue(text, at, PIECES.get(random.nextInt(PIECES.size())));
                default -> text.setLength(Math.max(2, at));
            }
        }
        return text.toString();
    }

    private static void replaceAValue(StringBuilder text, int from, String piece) {
        int colon = text.indexOf(":", from);
        if (colon >= 0) {
            int end = colon + 1;
            while (end < text.length() && ",}]".indexOf(text.charAt(end)) < 0) {
                end++;
            }
            text.replace(colon + 1, end, piece);
        }
    }
}
