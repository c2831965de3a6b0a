package ${package};

import io.dra4j.conformance.DraConformance;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The core profiles of the conformance suite, in this JVM; README.md has the command for the whole suite. */
class ConformanceTest {

    @TestFactory
    Stream<DynamicNode> conformance() {
        return DraConformance.of("${driverName}", place -> new ${className}Provider(place.node()))
                .settings("profiles: [node-core, cdi, publishing]")
                .tests();
    }
}
