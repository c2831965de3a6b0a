// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.sharing.ConfigKinds;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of configurations has the kinds that drivers know, with their fields. */
class ConfigurationsPageTest {

    private static final String PAGE = Pages.text(Pages.ROOT.resolve("how-to/configure-devices.md"));
    private static final Pattern FIELD = Pattern.compile("^\\| `([\\w.]+)` \\|", Pattern.MULTILINE);
    private static final Pattern KIND = Pattern.compile("`kind: (\\w+)`");

    private static List<ConfigType<?>> known() throws Exception {
        List<ConfigType<?>> types = new ArrayList<>(Devices.fake().configTypes());
        types.addAll(Devices.fake("--device-profile=net").configTypes());
        types.addAll(Devices.fake("--device-profile=cpu").configTypes());
        types.addAll(ConfigKinds.of(NvidiaGates.parse("")));
        return types;
    }

    /** The leaves of a record of records, as paths. */
    private static Stream<String> fields(String path, Class<?> type) {
        return Stream.of(type.getRecordComponents()).flatMap(component -> fields(path, component));
    }

    private static Stream<String> fields(String path, RecordComponent component) {
        String name = path + component.getName();
        boolean isText = component.getType() == Quantity.class;
        return component.getType().isRecord() && !isText ? fields(name + ".", component.getType()) : Stream.of(name);
    }

    @Test
    void hasTheFieldsOfTheKindsThatFitDevices() throws Exception {
        List<String> wanted = known().stream()
                .filter(type -> type.kind().matches("(Gpu|Net|MigDevice|VfioDevice)Config"))
                .flatMap(type -> fields("", type.type()))
                .toList();

        assertThat(FIELD.matcher(PAGE).results().map(row -> row.group(1))).containsExactlyElementsOf(wanted);
    }

    @Test
    void namesEachKindAndItsVersion() throws Exception {
        List<String> wanted = known().stream().map(ConfigType::kind).toList();

        assertThat(KIND.matcher(PAGE).results().map((MatchResult kind) -> kind.group(1)))
                .containsExactlyElementsOf(wanted);
        assertThat(known()).allSatisfy(type -> assertThat(PAGE).contains("`apiVersion: " + type.apiVersion() + "`"));
    }
}
