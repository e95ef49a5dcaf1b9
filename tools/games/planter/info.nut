class Planter extends AIInfo {
	function GetAuthor() { return "desynctool"; }
	function GetName() { return "Planter"; }
	function GetDescription() { return "plants trees and places signs"; }
	function GetVersion() { return 1; }
	function GetDate() { return "2026-01-01"; }
	function CreateInstance() { return "Planter"; }
	function GetShortName() { return "PLNT"; }
	function GetAPIVersion() { return "12"; }
}
RegisterAI(Planter());
