// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Commands of kubectl and Helm in pages work on the clusters that they are for. */
class CommandsOfPagesTest {

    private static final Pattern LABEL = Pattern.compile("kubectl label [^\n`#]*nvidia\\.com/gpu\\.deploy\\.[^\n`#]*");
    private static final Pattern EVENTS = Pattern.compile("kubectl get events[^\n`#]*");
    private static final Pattern APPLY_AND_LOG = Pattern.compile("kubectl (apply|create) [^`]*kubectl logs [^\n]*");
    private static final Pattern SEARCH = Pattern.compile("kubectl [^\n`#]* logs [^\n`#]*\\| grep ");
    private static final Pattern UPGRADE = Pattern.compile("helm upgrade [^\n`#]*values[^\n`#]*");

    private static List<String> commands(Pattern pattern) throws Exception {
        List<String> found = new ArrayList<>();
        for (Path page : Pages.all()) {
            pattern.matcher(Pages.text(page)).results().forEach(one -> found.add(one.group()));
        }
        return found;
    }

    /** GPU Operator labels its nodes with the opposite, which kubectl does not overwrite by default. */
    @Test
    void thatTurnAPartOfGpuOperatorOffReplaceItsLabel() throws Exception {
        assertThat(commands(LABEL)).hasSizeGreaterThan(2).allMatch(command -> command.contains("--overwrite"));
    }

    /** Events of Nodes are in the namespace default, which need not be that of the context. */
    @Test
    void thatShowEventsDoSoForAllNamespaces() throws Exception {
        assertThat(commands(EVENTS)).hasSizeGreaterThan(3).allMatch(command -> command.matches(".* (-A|--all-n).*"));
    }

    /** The log of a DaemonSet is that of one of its pods. */
    @Test
    void thatSearchLogsReadThoseOfAllPods() throws Exception {
        assertThat(commands(SEARCH)).isNotEmpty().allMatch(command -> command.contains(" --selector "));
    }

    /** A new pod has no log yet. */
    @Test
    void thatShowTheLogOfANewPodWaitForIt() throws Exception {
        assertThat(commands(APPLY_AND_LOG)).isNotEmpty().allMatch(commands -> commands.contains("kubectl wait "));
    }

    /** A chart's new values have no defaults with {@code --reuse-values}. */
    @Test
    void thatUpgradeAReleaseKeepDefaultsOfNewValues() throws Exception {
        assertThat(commands(UPGRADE)).hasSizeGreaterThan(4).noneMatch(command -> command.contains(" --reuse-values"));
    }
}
