// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            'devices':['gpu-1'],'effect':'NoExecute'           | gpu-1 | NoExecute  |
            'devices':['gpu-1'],'effect':'NoExecute','by':'me' | gpu-1 | NoSchedule | by,effect
            'devices':['gpu-1'],'effect':'None','by':'me'      | gpu-1 | None       | by
            'devices':['gpu-1'],'effect':'Later'               | gpu-1 | NoSchedule | effect
            'devices':['gpu-[1]'],'effect':'NoExecute'         | *     | NoSchedule | devices,effect
            'devices':{'names':'gpu-1'},'effect':'NoSchedule'  | *     | NoSchedule | devices,effect
            """)
    void isUnderstoodAsFarAsItIsSafe(String fields, String device, String effect, String unclear) throws Exception {
        String request = "{'id':'1','since':'now',%s}".formatted(fields).replace('\'', '"');
        Set<String> left = new TreeSet<>();

        Maintenance found = Maintenance.understood(new JsonMapper().readTree(request), left);

        assertThat(found).isEqualTo(new Maintenance("1", List.of(device), effect, "now"));
        assertThat(String.join(",", left)).isEqualTo(unclear == null ? "" : unclear);
    }
}
