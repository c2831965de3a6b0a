package ${package};

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.InstalledChart;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.StrictDecoder;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chart as Helm renders it, on the test's API server. */
class ChartTest {

    private final HelmChart chart = new HelmChart(Path.of("chart"));
    private final Manifests manifests = chart.render(ChartInstallation.DEFAULT);

    @Test
    void hasObjectsThatAnApiServerTakes() {
        assertThat(chart.lint()).isEmpty();
        assertThat(StrictDecoder.problems(manifests)).isEmpty();
    }

    /** The driver is a process with the arguments, variables and rights of the chart's pod. */
    @Test
    void grantsWhatTheDriverAsksFor(@TempDir Path folder) throws Exception {
        try (InstalledChart installed = new InstalledChart("${driverName}", manifests, folder, ${className}Driver.class)) {
            installed.start();
            installed.node().awaitSlices(slices -> !slices.isEmpty());

            assertThat(installed.devicesOf("${driverName}")).isNotEmpty();
            installed.assertNothingRefused();
        }
    }
}
