"""`make soak`: run the robustness targets in full and write soak/report.md."""
