// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.Given;
import io.dra4j.allocator.pods.ResourceClasses.Entry;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requests that extended resources stand for. */
class ExtendedRequestTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            m=2 n=1k | [m 0-request-0 2, n 1-request-0 1000]
            m=0 n=1500m o=1e99 p=x q=-1 r=2000m | [r 5-request-0 2]
            i=1 j=2 m=0 | [i 1-request-0 2, j 1-request-0 2]
            i=1 s=1 k=2 m=1 | [s 1-request-0 1, m 3-request-0 1, i 1-request-0 1, k 3-request-0 1, k 2-request-0 1]
            """)
    void initContainersUseTheDevicesOfLaterOnes(String containers, String requests) {
        String pod = containers
                .replaceAll("(.)=(\\w+|-1)", "{name: '$1', resources: {limits: {'example.com/gpu': '$2'}}},")
                .replace("{name: 'm'", "], containers: [{name: 'm'")
                .replace("name: 's'", "restartPolicy: 'Always', name: 's'");
        ResourceClasses classes = new ResourceClasses(List.of(new Entry("gpu", "example.com/gpu", "")));
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(new Locale("ar", "EG")); // whose digits are others

            assertThat(ExtendedRequest.of(Given.json("{spec: {initContainers: [" + pod + "]}}"), classes, any -> false))
                    .map(one -> one.container() + one.name().replace("container-", " ") + " " + one.count())
                    .hasToString(requests);
        } finally {
            Locale.setDefault(before);
        }
    }
}
