// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** JSON for a standard output of any encoding. */
public final class AsciiJson {

    private AsciiJson() {}

    /** The value in several lines, with a line break at the end. */
    public static String of(Object value) {
        try {
            return JsonMapper.builder()
                            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                            .build()
                            .writerWithDefaultPrettyPrinter()
                            .writeValueAsString(value)
                    + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("It can't be written as JSON", e);
        }
    }
}
